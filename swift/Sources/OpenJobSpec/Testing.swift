import Foundation
import OpenJobSpecCore

/// Tests without a server: a private engine in memory takes the place of every client's server.
///
///     let fake = try OJSTesting.fake()
///     try await signUp("ada@example.com")
///     try fake.assertEnqueued("email.send", ["args": ["ada@example.com"], "queue": "mail"])
///     try await fake.drain(worker)  // runs the handlers here
///     try await fake.close()
public enum OJSTesting {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var all: [Fake] = []

    /// Keeps the jobs of all clients in memory, until it is closed.
    public static func fake() throws -> Fake {
        try begin([])
    }

    /// Runs jobs with the handlers of these workers as soon as they are enqueued; what they throw reaches the caller of
    /// enqueue.
    public static func inline(_ workers: Worker...) throws -> Fake {
        try begin(workers)
    }

    private static func begin(_ inline: [Worker]) throws -> Fake {
        let fake = try Fake(inline)
        lock.withLock { all.append(fake) }
        return fake
    }

    /// What takes the place of connections; nil when nothing does. The newest one gets the jobs.
    static var active: Fake? { lock.withLock { all.last } }

    static func end(_ fake: Fake) {
        lock.withLock { all.removeAll { $0 === fake } }
    }
}

/// What a test expected and has not found.
public struct AssertionFailure: Error, CustomStringConvertible {
    public let description: String
}

/// What was enqueued while it is active: `OJSTesting.fake`.
public final class Fake: @unchecked Sendable {
    /// Marks what runs inside of `drain`: jobs that handlers enqueue wait for their turn.
    @TaskLocal private static var draining = false

    private let inline: [Worker]
    private let lock = NSLock()
    private var recorded: [Job] = []
    private var engine: CoreClient

    init(_ inline: [Worker]) throws {
        self.inline = inline
        engine = try Fake.newEngine()
    }

    private static func newEngine() throws -> CoreClient {
        try calling { try CoreClient(url: "memory:ojs-testing-swift-\(UUID().uuidString)", settings: "{}") }
    }

    /// Every job as it goes over the wire, oldest first: `type`, `args`, `options`.
    public var requests: [Job] { lock.withLock { recorded } }

    private var current: CoreClient { lock.withLock { engine } }

    func request(_ method: String, _ path: String, _ body: Data?) async throws -> Data {
        let core = current
        let answer = try await awaiting { try await core.call(method: method, path: path, body: body, waitMs: nil) }
        let said = OpenJobSpecCore.fakeRecorded(method: method, path: path, body: body ?? Data())
        let sent = try JSON.value(Data(said.utf8)) as? [[String: Any]] ?? []
        lock.withLock { recorded += sent.map(Job.init(members:)) }
        if !sent.isEmpty, !inline.isEmpty, !Fake.draining { try await drain(inline) }
        return answer
    }

    /// The jobs of this type that match: `args`, `id` and `schema` are equal, `meta` is a part of the job's, other
    /// members are options in the forms that `job` takes or that the wire has. The core decides, as in every language.
    public func enqueued(_ type: String, _ wanted: [String: Any] = [:]) throws -> [Job] {
        let jobs = requests
        var asked = wanted
        asked["type"] = type
        let (all, one) = (try JSON.text(jobs.map(\.members)), try JSON.text(asked))
        let places = try calling { try OpenJobSpecCore.fakeMatching(jobs: all, wanted: one) }
        return places.map { jobs[Int($0)] }
    }

    /// Throws unless such a job was enqueued; with `count` unless so many were. Returns them.
    @discardableResult
    public func assertEnqueued(_ type: String, _ wanted: [String: Any] = [:], count: Int? = nil) throws -> [Job] {
        let found = try enqueued(type, wanted)
        if count.map({ found.count == $0 }) ?? !found.isEmpty { return found }
        let what = "'\(type)'" + (wanted.isEmpty ? "" : " with " + (try JSON.text(wanted)))
        let all = try requests.map { $0.type + (try JSON.text($0.args)) }
        let listed = all.isEmpty ? "none" : all.joined(separator: ", ")
        let number = count.map(String.init) ?? "at least one"
        throw AssertionFailure(
            description: "expected \(number) \(what), found \(found.count); enqueued were: \(listed)")
    }

    /// Throws when such a job was enqueued.
    public func assertNotEnqueued(_ type: String, _ wanted: [String: Any] = [:]) throws {
        try assertEnqueued(type, wanted, count: 0)
    }

    /// Forgets all jobs.
    public func clear() async throws {
        let new = try Fake.newEngine()
        let core = lock.withLock {
            recorded = []
            defer { engine = new }
            return engine
        }
        try await awaiting { try await core.close() }
    }

    /// Runs the handlers of the workers on everything that is available, jobs enqueued on the way included; returns how
    /// many ran. What a handler throws is thrown here, after its job was marked as failed.
    @discardableResult
    public func drain(_ workers: Worker...) async throws -> Int {
        try await drain(workers)
    }

    private func drain(_ workers: [Worker]) async throws -> Int {
        try await Fake.$draining.withValue(true) {
            var ran = 0
            for worker in workers {
                while let job = try await next(worker) {
                    try await perform(worker, job)
                    ran += 1
                }
            }
            return ran
        }
    }

    private func next(_ worker: Worker) async throws -> Job? {
        let asked: [String: Any] = ["queues": worker.queues, "count": 1, "worker_id": "drain"]
        let answer = try await call("POST", "/workers/fetch", asked)
        return (answer["jobs"] as? [[String: Any]])?.first.map(Job.init(members:))
    }

    private func perform(_ worker: Worker, _ job: Job) async throws {
        let calls = worker.calls()
        let ctx = JobContext(
            id: job.id, type: job.type, queue: job.queue, attempt: job.attempt, job: job.members,
            client: worker.client)
        let outcome = await Outcome.of(ctx, calls[job.type] ?? calls["*"] ?? noHandler)
        var about = try outcome.members()
        about["job_id"] = job.id
        about["lease_token"] = job.members["lease_token"]
        about["worker_id"] = "drain"
        _ = try await call("POST", outcome.path, about)
        if let thrown = outcome.thrown { throw thrown }
    }

    private func call(_ method: String, _ path: String, _ body: [String: Any]) async throws -> [String: Any] {
        let core = current
        let sent = try JSON.data(body)
        let answer = try await awaiting { try await core.call(method: method, path: path, body: sent, waitMs: nil) }
        return answer.isEmpty ? [:] : try JSON.object(answer)
    }

    /// Ends it: clients reach their servers again.
    public func close() async throws {
        OJSTesting.end(self)
        let core = current
        try await awaiting { try await core.close() }
    }
}
