// Made from xtask/schema.toml by make gen; do not edit.
package org.openjobspec.kotlin

import kotlin.time.Duration

/** Where a job goes when all attempts have failed. */
public enum class OnExhaustion {
    DISCARD, DEAD_LETTER;

    internal val word: String get() = name.lowercase()
}

/** The formula of the pauses. */
public enum class BackoffStrategy {
    EXPONENTIAL, LINEAR, CONSTANT, NONE, POLYNOMIAL;

    internal val word: String get() = name.lowercase()
}

/** What to do with the second job. */
public enum class OnConflict {
    REJECT, REPLACE, REPLACE_EXCEPT_SCHEDULE, IGNORE;

    internal val word: String get() = name.lowercase()
}

/** What a train does when a job has ended without success: the next job runs, or none. */
public enum class TrainAction {
    ADVANCE, HOLD;

    internal val word: String get() = name.lowercase()
}

/** When a job that is cancelled while it runs leaves its train: when its worker has let go of it, or at once. */
public enum class CancelActive {
    DRAIN, IMMEDIATE;

    internal val word: String get() = name.lowercase()
}

/** What happens when a job fails, how often and when it runs again. What is null is decided by the server. */
public data class RetryPolicy(
    /** Runs in all, the first included. */
    public val maxAttempts: Int? = null,
    /** Pause before the first retry. */
    public val initialInterval: Duration? = null,
    /** Growth of the pause from one retry to the next. */
    public val backoffCoefficient: Double? = null,
    /** Longest pause. */
    public val maxInterval: Duration? = null,
    /** Spread the pauses at random, so that jobs that failed together do not come back together. */
    public val jitter: Boolean? = null,
    /** Error types or codes that end the job at once. */
    public val nonRetryableErrors: List<String>? = null,
    /** Where the job goes when all attempts have failed. */
    public val onExhaustion: OnExhaustion? = null,
    /** The formula of the pauses. */
    public val backoffStrategy: BackoffStrategy? = null,
) : JsonForm {
    override fun toJson(): Map<String, Any?> = given(
        "max_attempts" to maxAttempts,
        "initial_interval" to initialInterval?.let(::durationText),
        "backoff_coefficient" to backoffCoefficient,
        "max_interval" to maxInterval?.let(::durationText),
        "jitter" to jitter,
        "non_retryable_errors" to nonRetryableErrors,
        "on_exhaustion" to onExhaustion?.word,
        "backoff_strategy" to backoffStrategy?.word,
    )
}

/** When two jobs count as the same, and what happens to the second. What is null is decided by the server. */
public data class UniquePolicy(
    /** What is compared: of type, queue, args, meta. */
    public val keys: List<String>? = null,
    /** Only these members of the arguments count. */
    public val argsKeys: List<String>? = null,
    /** Only these members of the metadata count. */
    public val metaKeys: List<String>? = null,
    /** Only jobs made within this time count. */
    public val period: Duration? = null,
    /** Only jobs in these states count. */
    public val states: List<String>? = null,
    /** What to do with the second job. */
    public val onConflict: OnConflict? = null,
) : JsonForm {
    override fun toJson(): Map<String, Any?> = given(
        "keys" to keys,
        "args_keys" to argsKeys,
        "meta_keys" to metaKeys,
        "period" to period?.let(::durationText),
        "states" to states,
        "on_conflict" to onConflict?.word,
    )
}

/** The train of a job: jobs of one train run one after the other, in the order in which they were stored. What is null is decided by the server. */
public data class Train(
    /** The train, such as dest_123; dest_{destination_id} is filled in with an argument of the job. */
    public val id: String? = null,
    /** What the train does when the job is cancelled: without it the next job runs. */
    public val onCancelled: TrainAction? = null,
    /** What the train does when the job has failed for good: without it the next job runs. */
    public val onDiscarded: TrainAction? = null,
    /** When a job that is cancelled while it runs leaves the train: without it when its worker has let go of it. */
    public val cancelActive: CancelActive? = null,
) : JsonForm {
    override fun toJson(): Map<String, Any?> = given(
        "id" to id,
        "on_cancelled" to onCancelled?.word,
        "on_discarded" to onDiscarded?.word,
        "cancel_active" to cancelActive?.word,
    )
}

/** Through which proxy requests go. Those to a loopback address go through none. */
public enum class Proxy {
    /** The one that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names. */
    ENVIRONMENT,
    /** None: those variables are not read. */
    NONE;

    internal val word: String get() = name.lowercase()
}

/** What a worker does with a job whose type has no handler. */
public enum class UnknownTypes {
    /** The job becomes a dead letter whose reason is no_handler. */
    FAIL,
    /** The job goes back to its queue, and no attempt is counted: for queues that services share. */
    RELEASE;

    internal val word: String get() = name.lowercase()
}
