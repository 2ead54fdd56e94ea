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
    public var args: [Any] { job["args"] as? [Any] ?? [] }
}

/// Ends a job for good: it is not tried again.
public struct NonRetryable: Error {
    public let message: String
    public let code: String

    public init(_ message: String, code: String = "non_retryable") {
        self.message = message
        self.code = code
    }
}

/// Runs a job: what it returns is the job's result (nil is none), what it throws is its failure.
public typealias Handler = @Sendable (JobContext) async throws -> Any?

/// Fetches jobs and runs their handlers, each in a task of its own.
///
///     let worker = Worker(client, queues: ["mail"])
///     worker.register("email.send") { ctx in print(ctx.args); return nil }
///     try await worker.run()
public final class Worker: @unchecked Sendable {
    private let client: Client
    private var settings: [String: Any]
    private var handlers: [String: Handler] = [:]
    private let lock = NSLock()
    private var running: [UInt64: Task<Void, Never>] = [:]
    private var cancelled: Set<UInt64> = []

    /// Further settings have the names of docs/languages.md; lengths of time are seconds.
    public init(
        _ client: Client, queues: [String] = ["default"], concurrency: Int = 10, settings: [String: Any] = [:]
    ) {
        self.client = client
        self.settings = settings
        self.settings["queues"] = queues
        self.settings["concurrency"] = concurrency
    }

    /// Registers the handler of a job type; `*` stands for every other type. Before `run`.
    @discardableResult
    public func register(_ type: String, _ handler: @escaping Handler) -> Worker {
        handlers[type] = handler
        return self
    }

    /// Works until the task is cancelled; then running handlers may finish for the grace period, and their jobs go
    /// back.
    public func run() async throws {
        settings["types"] = handlers.keys.filter { $0 != "*" }
        settings["fallback"] = handlers["*"] != nil
        let core = try calling { try CoreWorker(client: client.core, settings: JSON.text(settings)) }
        try await calling { try await core.start() }
        // Threads of their own: what waits in the core must not hold threads of Swift's pool.
        Thread.detachNewThread { self.pull(core) }
        Thread.detachNewThread { self.listen(core) }
        try await withTaskCancellationHandler {
            // Not cancelled with this task: it ends when the worker is over.
            try await Task.detached { try await calling { try await core.over() } }.value
        } onCancel: {
            try? core.stop(graceMs: nil)
        }
    }

    private func pull(_ core: CoreWorker) {
        while let frame = try? core.pull(max: 256), !frame.isEmpty {
            for entry in Frames.read(frame) { begin(entry, core) }
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

    private func begin(_ entry: Frames.Entry, _ core: CoreWorker) {
        lock.withLock {
            let task = Task.detached { await self.work(entry, core) }
            running[entry.token] = task
            if cancelled.remove(entry.token) != nil { task.cancel() }
        }
    }

    private func work(_ entry: Frames.Entry, _ core: CoreWorker) async {
        let began = DispatchTime.now().uptimeNanoseconds
        let outcome = await self.outcome(entry)
        lock.withLock { _ = running.removeValue(forKey: entry.token) }
        let busy = (DispatchTime.now().uptimeNanoseconds - began) / 1000
        // An answer that comes too late changes nothing.
        _ = try? core.complete(outcomes: Frames.write([outcome]), busyUs: busy)
    }

    private func outcome(_ entry: Frames.Entry) async -> Frames.Outcome {
        do {
            let job = try JSON.object(entry.envelope)
            let ctx = JobContext(
                id: entry.id, type: entry.type, queue: entry.queue, attempt: entry.attempt, job: job)
            guard let handler = handlers[entry.type] ?? handlers["*"] else {
                throw NonRetryable("no handler", code: "no_handler")
            }
            let result = try await handler(ctx)
            let payload = try result.map { Data(try JSON.text($0).utf8) } ?? Data()
            return Frames.Outcome(token: entry.token, kind: 0, payload: payload)
        } catch is CancellationError {
            return Frames.Outcome(token: entry.token, kind: 2)
        } catch let error as NonRetryable {
            return failed(entry, error.message, error.code, retryable: false, error)
        } catch {
            return failed(entry, String(describing: error), "handler_error", retryable: true, error)
        }
    }

    private func failed(
        _ entry: Frames.Entry, _ message: String, _ code: String, retryable: Bool, _ error: Error
    ) -> Frames.Outcome {
        let kind = String(describing: type(of: error))
        let about: [String: Any] = ["message": message, "code": code, "type": kind, "retryable": retryable]
        return Frames.Outcome(token: entry.token, kind: 1, payload: Data((try? JSON.text(about))?.utf8 ?? "{}".utf8))
    }
}
