package org.openjobspec;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What happens when a job fails. What is null is decided by the server.
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
public record RetryPolicy(Integer maxAttempts, Duration initialInterval, Double backoffCoefficient, Duration maxInterval, Boolean jitter,
                          List<String> nonRetryableErrors, OnExhaustion onExhaustion, BackoffStrategy backoffStrategy)
        implements JsonForm {

    /** Where a job goes when all attempts have failed. */
    public enum OnExhaustion { DISCARD, DEAD_LETTER }

    /** The formula of the pauses. */
    public enum BackoffStrategy { EXPONENTIAL, LINEAR, CONSTANT, NONE, POLYNOMIAL }

    /** All as the server decides. */
    public static final RetryPolicy DEFAULT = new RetryPolicy(null, null, null, null, null, null, null, null);

    /** So many runs in all. */
    public static RetryPolicy attempts(int maxAttempts) {
        return DEFAULT.withMaxAttempts(maxAttempts);
    }

    /** The same with this number of runs in all. */
    public RetryPolicy withMaxAttempts(int attempts) {
        return new RetryPolicy(attempts, initialInterval, backoffCoefficient, maxInterval, jitter, nonRetryableErrors, onExhaustion,
                backoffStrategy);
    }

    /** The same with this pause before the first retry. */
    public RetryPolicy withInitialInterval(Duration pause) {
        return new RetryPolicy(maxAttempts, pause, backoffCoefficient, maxInterval, jitter, nonRetryableErrors, onExhaustion,
                backoffStrategy);
    }

    /** The same with this growth of the pause. */
    public RetryPolicy withBackoffCoefficient(double coefficient) {
        return new RetryPolicy(maxAttempts, initialInterval, coefficient, maxInterval, jitter, nonRetryableErrors, onExhaustion,
                backoffStrategy);
    }

    /** The same with this longest pause. */
    public RetryPolicy withMaxInterval(Duration pause) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, pause, jitter, nonRetryableErrors, onExhaustion,
                backoffStrategy);
    }

    /** The same with or without jitter. */
    public RetryPolicy withJitter(boolean on) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, on, nonRetryableErrors, onExhaustion,
                backoffStrategy);
    }

    /** The same with these errors ending the job at once. */
    public RetryPolicy withNonRetryableErrors(String... errors) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter, List.of(errors), onExhaustion,
                backoffStrategy);
    }

    /** The same with this end. */
    public RetryPolicy withOnExhaustion(OnExhaustion end) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter, nonRetryableErrors, end,
                backoffStrategy);
    }

    /** The same with this formula. */
    public RetryPolicy withBackoffStrategy(BackoffStrategy strategy) {
        return new RetryPolicy(maxAttempts, initialInterval, backoffCoefficient, maxInterval, jitter, nonRetryableErrors, onExhaustion,
                strategy);
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
        wire.put("on_exhaustion", wire(onExhaustion));
        wire.put("backoff_strategy", wire(backoffStrategy));
        wire.values().removeIf(value -> value == null);
        return wire;
    }

    static String wire(Enum<?> constant) {
        return constant == null ? null : constant.name().toLowerCase(Locale.ROOT);
    }
}
