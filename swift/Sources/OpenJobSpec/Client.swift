import Foundation
import OpenJobSpecCore

/// A job as the server describes it.
public struct Job: @unchecked Sendable {
    /// All that the server said, by the names on the wire.
    public let members: [String: Any]

    public var id: String { members["id"] as? String ?? "" }
    public var type: String { members["type"] as? String ?? "" }
    public var queue: String { members["queue"] as? String ?? "default" }
    public var state: String? { members["state"] as? String }
    public var attempt: Int { members["attempt"] as? Int ?? 0 }
    public var args: [Any] { members["args"] as? [Any] ?? [] }
    public var meta: [String: Any] { members["meta"] as? [String: Any] ?? [:] }
}

/// Talks to an OJS server, or to an engine in this process. Making one opens nothing: it connects with its first call.
///
///     let client = try Client("sqlite:jobs.db")
///     try await client.enqueue("email.send", ["ada@example.com"], queue: "mail")
public final class Client: Sendable {
    let core: CoreClient
    /// The enqueue middleware, to be arranged.
    public let middleware: MiddlewareChain<EnqueueLayer>
    private let tenant: String?

    /// For `http://host:8080`, `https://…`, `sqlite:jobs.db`, `memory:` or `memory:name`. Settings have the names of
    /// docs/languages.md; lengths of time are seconds.
    public convenience init(_ url: String, settings: [String: Any] = [:]) throws {
        self.init(
            core: try calling { try CoreClient(url: url, settings: JSON.text(settings)) },
            middleware: MiddlewareChain(order: enqueueOrder), tenant: settings["tenant"] as? String)
    }

    /// Over a transport of the program's own.
    public convenience init(over transport: any Transport) {
        self.init(
            core: CoreClient.over(transport: Carried(transport)),
            middleware: MiddlewareChain(order: enqueueOrder), tenant: nil)
    }

    private init(core: CoreClient, middleware: MiddlewareChain<EnqueueLayer>, tenant: String?) {
        self.core = core
        self.middleware = middleware
        self.tenant = tenant
    }

    /// The same connection and middleware with the requests of one tenant.
    public func ofTenant(_ tenant: String) throws -> Client {
        Client(core: try calling { try core.ofTenant(tenant: tenant) }, middleware: middleware, tenant: tenant)
    }

    /// Adds enqueue middleware; the first one added is the outermost.
    @discardableResult
    public func use(_ name: String, _ layer: @escaping EnqueueLayer) throws -> Client {
        try middleware.add(name, layer)
        return self
    }

    /// Sends a job; the job as the server stored it.
    @discardableResult
    public func enqueue(_ request: JobRequest) async throws -> Job {
        try await through(request) { changed in
            let answer = try await self.request("POST", "/jobs", changed.members())
            return Job(members: answer["job"] as? [String: Any] ?? [:])
        }
    }

    /// Sends many jobs in one request: all are stored or none. Middleware runs for each; dropped jobs are left out.
    @discardableResult
    public func enqueueBatch(_ requests: [JobRequest]) async throws -> [Job] {
        let kept = Kept()
        let call = composed(middleware.freeze()) { changed in
            kept.add(changed)
            return Job(members: changed.members())
        }
        for request in requests { _ = try await call(tenanted(completed(request))) }
        guard !kept.all.isEmpty else { return [] }
        let answer = try await self.request("POST", "/jobs/batch", ["jobs": kept.all.map { $0.members() }])
        return (answer["jobs"] as? [[String: Any]] ?? []).map(Job.init(members:))
    }

    /// Starts a workflow made by `chain`, `group`, `batch` or `graph`; what the server says about it, by the names on
    /// the wire.
    @discardableResult
    public func workflow(_ definition: Workflow) async throws -> [String: Any] {
        let answer = try await request("POST", "/workflows", definition.members())
        return answer["workflow"] as? [String: Any] ?? [:]
    }

    /// The job with this id.
    public func getJob(_ id: String) async throws -> Job {
        let place = id.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? id
        let answer = try await request("GET", "/jobs/" + place)
        return Job(members: answer["job"] as? [String: Any] ?? [:])
    }

    /// Any call of the protocol: `path` is relative to `/ojs/v1`. The body of a 2xx answer.
    @discardableResult
    public func request(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> [String: Any] {
        let sent = try body.map(JSON.data)
        let answer: Data
        if let fake = OJSTesting.active {
            answer = try await fake.request(method, path, sent)
        } else {
            answer = try await awaiting { try await core.call(method: method, path: path, body: sent, waitMs: nil) }
        }
        return answer.isEmpty ? [:] : try JSON.object(answer)
    }

    /// Releases the connection; an embedded engine is flushed.
    public func close() async throws {
        try await awaiting { try await core.close() }
    }

    /// Runs the middleware around whatever is done with the job.
    func through(_ request: JobRequest, _ inside: @escaping Enqueue) async throws -> Job {
        let call = composed(middleware.freeze(), inside)
        guard let job = try await call(tenanted(completed(request))) else { throw OJSError.notEnqueued() }
        return job
    }

    /// A request with the defaults of its type, so that middleware sees them.
    private func completed(_ request: JobRequest) throws -> JobRequest {
        guard Defaults.known(request.type) else { return request }
        let text = try JSON.text(request)
        let whole = try JSON.object(calling { try OpenJobSpecCore.completedJob(job: text) })
        var copy = request
        copy.options = whole["options"] as? [String: Any] ?? [:]
        copy.meta = whole["meta"] as? [String: Any] ?? [:]
        return copy
    }

    /// A request with the tenant of this client, unless it names one.
    private func tenanted(_ request: JobRequest) -> JobRequest {
        guard let tenant, request.options["tenant"] == nil, request.meta["tenant_id"] == nil else { return request }
        var copy = request
        copy.meta["tenant_id"] = tenant
        return copy
    }
}

/// The jobs that middleware lets through.
private final class Kept: @unchecked Sendable {
    private let lock = NSLock()
    private var requests: [JobRequest] = []
    var all: [JobRequest] { lock.withLock { requests } }

    func add(_ request: JobRequest) {
        lock.withLock { requests.append(request) }
    }
}

/// Job types of which this process has said what their jobs have unless their enqueue says otherwise.
enum Defaults {
    private static let lock = NSLock()
    nonisolated(unsafe) private static var types: Set<String> = []

    static func known(_ type: String) -> Bool {
        lock.withLock { types.contains(type) }
    }

    static func set(_ type: String, _ options: [String: Any]) throws {
        if options.isEmpty { return }
        guard type != "*" else {
            let message = "'*' stands for types without a name, and defaults belong to one type: register that type"
            throw OJSError.refused("validation_error", message)
        }
        let text = try JSON.text(options)
        try calling { try OpenJobSpecCore.setJobDefaults(jobType: type, options: text) }
        lock.withLock { _ = types.insert(type) }
    }
}
