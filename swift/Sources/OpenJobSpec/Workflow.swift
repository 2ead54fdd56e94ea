/// What a workflow is made of: a job, another workflow, or a node of a graph.
public protocol Step: JSONForm {}

/// A job with options, to be enqueued: what enqueue middleware sees and may change, a step of a workflow, a job of a
/// batch.
public struct JobRequest: Step, @unchecked Sendable {
    /// The job type, with dots between its parts.
    public var type: String
    /// The arguments.
    public var args: [Any]
    /// An id of the program's own.
    public var id: String?
    /// What travels with the job besides its arguments.
    public var meta: [String: Any]
    /// The name of the schema that the arguments follow.
    public var schema: String?
    /// The options, by their names on the wire.
    public var options: [String: Any]

    public init(
        type: String, args: [Any] = [], id: String? = nil, meta: [String: Any] = [:], schema: String? = nil,
        options: [String: Any] = [:]
    ) throws {
        guard !type.isEmpty else { throw OJSError.refused("invalid_payload", "a job needs a type") }
        self.type = type
        self.args = args
        self.id = id
        self.meta = meta
        self.schema = schema
        self.options = options
    }

    public func members() -> [String: Any] {
        given([
            "type": type, "args": args, "id": id, "meta": meta.isEmpty ? nil : meta, "schema": schema,
            "options": options.isEmpty ? nil : options,
        ])
    }
}

/// A description of jobs that belong together, sent by `Client.workflow`; may be a step of another one. `chain`,
/// `group`, `batch` and `graph` make it.
public struct Workflow: Step {
    /// `chain`, `group`, `batch` or `graph`.
    public let type: String
    /// What belongs to it.
    public let steps: [any Step]
    private var name: String?
    private var callbacks: [String: JobRequest]
    private var options: [String: Any] = [:]

    init(_ type: String, _ steps: [any Step], callbacks: [String: JobRequest] = [:]) throws {
        guard !steps.isEmpty else { throw OJSError.refused("invalid_payload", "a workflow needs at least one job") }
        guard type == "graph" || !steps.contains(where: { $0 is Node }) else {
            throw OJSError.refused("invalid_payload", "a node is a step of a graph: pass it to graph(…)")
        }
        self.type = type
        self.steps = steps
        self.callbacks = callbacks
    }

    /// The same with a name.
    public func named(_ name: String) -> Workflow {
        var copy = self
        copy.name = name
        return copy
    }

    /// The same with an option for the workflow as a whole, by its name on the wire.
    public func option(_ name: String, _ value: Any) -> Workflow {
        var copy = self
        copy.options[name] = value
        return copy
    }

    public func members() throws -> [String: Any] {
        given([
            "type": type, "name": name,
            type == "chain" || type == "graph" ? "steps" : "jobs": try steps.map { try $0.members() },
            "callbacks": callbacks.isEmpty ? nil : callbacks.mapValues { $0.members() },
            "options": options.isEmpty ? nil : options,
        ])
    }
}

/// A step of a graph, made by `node`.
public struct Node: Step {
    /// Its name in the graph.
    public let id: String
    /// A job, or a workflow inside the graph.
    public let step: any Step
    /// The nodes that must have completed before it begins.
    public let after: [String]

    public func members() throws -> [String: Any] {
        var members = try step.members()
        members["id"] = id
        if !after.isEmpty { members["depends_on"] = after }
        return members
    }
}

/// A step of a graph, named `id` there, that begins when the nodes of `after` have completed.
public func node(_ id: String, _ step: any Step, after: [String] = []) throws -> Node {
    guard !(step is Node) else {
        throw OJSError.refused("invalid_payload", "a node holds a job or a workflow, not a node")
    }
    return Node(id: id, step: step, after: after)
}

/// Each node runs as soon as those before it have completed, and sees their results as `JobContext.parentResults`.
public func graph(_ nodes: Node...) throws -> Workflow {
    try Workflow("graph", nodes)
}

/// One after the other; every step sees the results of those before it as `JobContext.parentResults`.
public func chain(_ steps: any Step...) throws -> Workflow {
    try Workflow("chain", steps)
}

/// All at the same time, in no order.
public func group(_ jobs: any Step...) throws -> Workflow {
    try Workflow("group", jobs)
}

/// All at the same time; what runs when all jobs of the batch are over, when all have succeeded, when any has failed.
public func batch(
    _ jobs: any Step..., onComplete: JobRequest? = nil, onSuccess: JobRequest? = nil, onFailure: JobRequest? = nil
) throws -> Workflow {
    let callbacks: [String: JobRequest?] = [
        "on_complete": onComplete, "on_success": onSuccess, "on_failure": onFailure,
    ]
    return try Workflow("batch", jobs, callbacks: callbacks.compactMapValues { $0 })
}
