import Foundation
import OpenJobSpecCore

/// One run of one job. Its task is cancelled when it should stop.
public struct JobContext: @unchecked Sendable {
    public let id: String
    public let type: String
    public let queue: String
    public let attempt: Int
    /// The whole job, by the names on the wire.
    public let job: [String: Any]
    /// The worker's client.
    public let client: Client
    public var args: [Any] { job["args"] as? [Any] ?? [] }
    public var meta: [String: Any] { job["meta"] as? [String: Any] ?? [:] }
    /// The results of the steps before, in a workflow.
    public var parentResults: [Any] { job["parent_results"] as? [Any] ?? [] }
}

/// Runs a job: what it returns is the job's result (nil is none), what it throws is its failure.
public typealias Handler = @Sendable (JobContext) async throws -> Any?

/// Fetches jobs and runs their handlers, each in a task of its own.
///
///     let worker = Worker(client, queues: ["mail"])
///     try worker.register("email.send") { ctx in print(ctx.args); return nil }
///     try await worker.run()
public final class Worker: @unchecked Sendable {
    let client: Client
    let queues: [String]
    /// The layers around every handler, to be arranged before the start.
    public let middleware = MiddlewareChain<ExecutionLayer>()
    private var settings: [String: Any]
    private var handlers: [String: Handler] = [:]
    private var composedHandlers: [String: Handler]?
    private let lock = NSLock()
    private var running: [UInt64: Task<Void, Never>] = [:]
    private var cancelled: Set<UInt64> = []

    /// Further settings have the names of docs/languages.md; lengths of time are seconds.
    public init(
        _ client: Client, queues: [String] = ["default"], concurrency: Int = 10, settings: [String: Any] = [:]
    ) {
        self.client = client
        self.queues = queues
        self.settings = settings
        self.settings["queues"] = queues
        self.settings["concurrency"] = concurrency
    }

    /// Adds a layer around every handler; the first one added is the outermost.
    @discardableResult
    public func use(_ name: String, _ layer: @escaping ExecutionLayer) throws -> Worker {
        try middleware.add(name, layer)
        return self
    }

    /// What `register` with its options comes to.
    func registered(_ type: String, _ defaults: [String: Any], _ handler: @escaping Handler) throws -> Worker {
        try lock.withLock {
            guard composedHandlers == nil else {
                throw OJSError.refused("validation_error", "register handlers before the worker starts")
            }
            guard handlers[type] == nil else {
                throw OJSError.refused("validation_error", "a handler for '\(type)' is registered already")
            }
            try Defaults.set(type, defaults)
            handlers[type] = handler
        }
        return self
    }

    /// One handler for each job type, with the middleware around it.
    func calls() -> [String: Handler] {
        lock.withLock {
            if let composedHandlers { return composedHandlers }
            let layers = middleware.freeze()
            let calls = handlers.mapValues { composed(layers, $0) }
            composedHandlers = calls
            return calls
        }
    }

    /// Works until the task is cancelled; then running handlers may finish for the grace period, and their jobs go
    /// back.
    public func run() async throws {
        let calls = calls()
        var said = settings
        said["types"] = calls.keys.filter { $0 != "*" }
        said["fallback"] = calls["*"] != nil
        let text = try JSON.text(said)
        let core = try calling { try CoreWorker(client: client.core, settings: text) }
        try await awaiting { try await core.start() }
        // Threads of their own: what waits in the core must not hold threads of Swift's pool.
        Thread.detachNewThread { self.pull(core, calls) }
        Thread.detachNewThread { self.listen(core) }
        try await withTaskCancellationHandler {
            // Not cancelled with this task: it ends when the worker is over.
            try await Task.detached { try await awaiting { try await core.over() } }.value
        } onCancel: {
            try? core.stop(graceMs: nil)
        }
    }

    private func pull(_ core: CoreWorker, _ calls: [String: Handler]) {
        while let frame = try? core.pull(max: 256), !frame.isEmpty {
            for entry in Frames.read(frame) { begin(entry, core, calls) }
        }
    }

    private func listen(_ core: CoreWorker) {
        while let told = try? core.cancellations(max: 256), !told.isEmpty {
            lock.withLock {
                for one in told {
                    if let task = running[one.token] { task.cancel() } else { cancelled.insert(one.token) }
                }
            }
        }
    }

    private func begin(_ entry: Frames.Entry, _ core: CoreWorker, _ calls: [String: Handler]) {
        lock.withLock {
            let task = Task.detached { await self.work(entry, core, calls) }
            running[entry.token] = task
            if cancelled.remove(entry.token) != nil { task.cancel() }
        }
    }

    private func work(_ entry: Frames.Entry, _ core: CoreWorker, _ calls: [String: Handler]) async {
        let began = DispatchTime.now().uptimeNanoseconds
        let outcome = await self.outcome(entry, calls)
        lock.withLock { _ = running.removeValue(forKey: entry.token) }
        let busy = (DispatchTime.now().uptimeNanoseconds - began) / 1000
        let answer = Frames.Outcome(
            token: entry.token, kind: outcome.kind, payload: outcome.payload, delayMs: outcome.delayMs)
        // An answer that comes too late changes nothing.
        _ = try? core.complete(outcomes: Frames.write([answer]), busyUs: busy)
    }

    private func outcome(_ entry: Frames.Entry, _ calls: [String: Handler]) async -> Outcome {
        let job = (try? JSON.object(entry.envelope)) ?? [:]
        let ctx = JobContext(
            id: entry.id, type: entry.type, queue: entry.queue, attempt: entry.attempt, job: job, client: client)
        return await Outcome.of(ctx, calls[entry.type] ?? calls["*"] ?? noHandler)
    }
}

/// The core sends no job of a type that was not named to it.
let noHandler: Handler = { ctx in
    throw NonRetryable("No handler is registered for job type '\(ctx.type)'.", code: "no_handler")
}
