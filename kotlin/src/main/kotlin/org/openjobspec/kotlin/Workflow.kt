package org.openjobspec.kotlin

/**
 * A description of jobs that belong together, sent by [OjsClient.workflow]; may be a step of another one. [chain],
 * [group], [batch] make it.
 */
public data class Workflow internal constructor(
    /** `chain`, `group` or `batch`. */
    public val type: String,
    /** What belongs to it. */
    public val steps: List<Step>,
    /** Its name. */
    public val name: String? = null,
    internal val callbacks: Map<String, JobRequest> = emptyMap(),
    internal val options: Map<String, Any?> = emptyMap(),
) : Step {
    init {
        if (steps.isEmpty()) throw OjsException.Validation(
            "a workflow needs at least one job",
            OjsException.About("invalid_payload"),
        )
    }

    /** The same with a name. */
    public fun named(name: String): Workflow = copy(name = name)

    /** The same with an option for the workflow as a whole, by its name on the wire. */
    public fun option(name: String, value: Any?): Workflow = copy(options = options + (name to value))

    override fun toJson(): Map<String, Any?> = given(
        "type" to type,
        "name" to name,
        (if (type == "chain") "steps" else "jobs") to steps,
        "callbacks" to callbacks.ifEmpty { null },
        "options" to options.ifEmpty { null },
    )
}

/** One after the other; every step sees the results of those before it as [JobContext.parentResults]. */
public fun chain(vararg steps: Step): Workflow = Workflow("chain", steps.asList())

/** All at the same time, in no order. */
public fun group(vararg jobs: Step): Workflow = Workflow("group", jobs.asList())

/**
 * All at the same time; what runs when all jobs of the batch are over, when all have succeeded, when any has failed.
 */
public fun batch(
    vararg jobs: Step,
    onComplete: JobRequest? = null,
    onSuccess: JobRequest? = null,
    onFailure: JobRequest? = null,
): Workflow {
    val callbacks = buildMap {
        onComplete?.let { put("on_complete", it) }
        onSuccess?.let { put("on_success", it) }
        onFailure?.let { put("on_failure", it) }
    }
    return Workflow("batch", jobs.asList(), callbacks = callbacks)
}
