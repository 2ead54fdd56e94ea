package org.openjobspec.kotlin

/**
 * A description of jobs that belong together, sent by [OjsClient.workflow]; may be a step of another one. [chain],
 * [group], [batch] and [graph] make it.
 */
public data class Workflow internal constructor(
    /** `chain`, `group`, `batch` or `graph`. */
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
        if (type != "graph" && steps.any { it is Node }) throw OjsException.Validation(
            "a node is a step of a graph: pass it to graph(…)",
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
        (if (type == "chain" || type == "graph") "steps" else "jobs") to steps,
        "callbacks" to callbacks.ifEmpty { null },
        "options" to options.ifEmpty { null },
    )
}

/** A step of a [graph], made by [node]. */
public data class Node internal constructor(
    /** Its name in the graph. */
    public val id: String,
    /** A job, or a workflow inside the graph. */
    public val step: Step,
    /** The nodes that must have completed before it begins. */
    public val after: List<String>,
) : Step {
    init {
        if (step is Node) throw OjsException.Validation(
            "a node holds a job or a workflow, not a node",
            OjsException.About("invalid_payload"),
        )
    }

    override fun toJson(): Map<String, Any?> =
        step.toJson() + given("id" to id, "depends_on" to after.ifEmpty { null })
}

/** A step of a graph, named [id] there, that begins when the nodes of [after] have completed. */
public fun node(id: String, step: Step, after: List<String> = emptyList()): Node = Node(id, step, after)

/** Each node runs as soon as those before it have completed, and sees their results as [JobContext.parentResults]. */
public fun graph(vararg nodes: Node): Workflow = Workflow("graph", nodes.asList())

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
