package org.openjobspec;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

// gen:java/policy.j2:RetryPolicy (make gen; do not edit)
/**
 * What happens when a job fails, how often and when it runs again. What is null is decided by the server.
 *
 * @param maxAttempts runs in all, the first included
 * @param initialInterval pause before the first retry
 * @param backoffCoefficient growth of the pause from one retry to the next
 * @param maxInterval longest pause
 * @param jitter spread the pauses at random, so that jobs that failed together do not come back together
 * @param nonRetryableErrors error types or codes that end the job at once
 * @param onExhaustion where the job goes when all attempts have failed
 * @param backoffStrategy the formula of the pauses
 */
public record RetryPolicy(
        Integer maxAttempts,
        Duration initialInterval,
        Double backoffCoefficient,
        Duration maxInterval,
        Boolean jitter,
        List<String> nonRetryableErrors,
        OnExhaustion onExhaustion,
        BackoffStrategy backoffStrategy) implements JsonForm {

    /** Where a job goes when all attempts have failed. */
    public enum OnExhaustion { DISCARD, DEAD_LETTER }

    /** The formula of the pauses. */
    public enum BackoffStrategy { EXPONENTIAL, LINEAR, CONSTANT, NONE, POLYNOMIAL }

    /** All as the server decides. */
    public static final RetryPolicy DEFAULT = new RetryPolicy(null, null, null, null, null, null, null, null);

    /** The same with this {@code maxAttempts}. Runs in all, the first included. */
    public RetryPolicy withMaxAttempts(int maxAttempts) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter, nonRetryableErrors,
                onExhaustion, backoffStrategy);
    }

    /** The same with this {@code initialInterval}. Pause before the first retry. */
    public RetryPolicy withInitialInterval(Duration initialInterval) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter, nonRetryableErrors,
                onExhaustion, backoffStrategy);
    }

    /** The same with this {@code backoffCoefficient}. Growth of the pause from one retry to the next. */
    public RetryPolicy withBackoffCoefficient(double backoffCoefficient) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter, nonRetryableErrors,
                onExhaustion, backoffStrategy);
    }

    /** The same with this {@code maxInterval}. Longest pause. */
    public RetryPolicy withMaxInterval(Duration maxInterval) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter, nonRetryableErrors,
                onExhaustion, backoffStrategy);
    }

    /** The same with this {@code jitter}. Spread the pauses at random, so that jobs that failed together do not come back together. */
    public RetryPolicy withJitter(boolean jitter) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter, nonRetryableErrors,
                onExhaustion, backoffStrategy);
    }

    /** The same with this {@code nonRetryableErrors}. Error types or codes that end the job at once. */
    public RetryPolicy withNonRetryableErrors(String... nonRetryableErrors) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter,
                List.of(nonRetryableErrors), onExhaustion, backoffStrategy);
    }

    /** The same with this {@code onExhaustion}. Where the job goes when all attempts have failed. */
    public RetryPolicy withOnExhaustion(OnExhaustion onExhaustion) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter, nonRetryableErrors,
                onExhaustion, backoffStrategy);
    }

    /** The same with this {@code backoffStrategy}. The formula of the pauses. */
    public RetryPolicy withBackoffStrategy(BackoffStrategy backoffStrategy) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter, nonRetryableErrors,
                onExhaustion, backoffStrategy);
    }

    @Override
    public Map<String, Object> toJson() {
        Map<String, Object> wire = new LinkedHashMap<>();
        wire.put("max_attempts", maxAttempts);
        wire.put("initial_interval", initialInterval == null ? null : Durations.text(initialInterval));
        wire.put("backoff_coefficient", backoffCoefficient);
        wire.put("max_interval", maxInterval == null ? null : Durations.text(maxInterval));
        wire.put("jitter", jitter);
        wire.put("non_retryable_errors", nonRetryableErrors);
        wire.put("on_exhaustion", onExhaustion == null ? null : onExhaustion.name().toLowerCase(Locale.ROOT));
        wire.put("backoff_strategy", backoffStrategy == null ? null : backoffStrategy.name().toLowerCase(Locale.ROOT));
        wire.values().removeIf(value -> value == null);
        return wire;
    }
    // gen:end

    /** So many runs in all. */
    public static RetryPolicy attempts(int maxAttempts) {
        return DEFAULT.withMaxAttempts(maxAttempts);
    }
}
