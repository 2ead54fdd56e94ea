import Foundation
import OpenJobSpecCore

/// What a call failed with. `code` is for programs; `number` is the class of error that all languages share
/// (xtask/schema.toml).
public struct OJSError: Error, CustomStringConvertible {
    public let number: Int32
    public let code: String
    public let message: String
    public let status: Int
    public let retryable: Bool

    public var description: String { "\(code): \(message)" }

    init(number: Int32, about: String) {
        let said = (try? JSON.object(Data(about.utf8))) ?? [:]
        self.number = number
        code = said["code"] as? String ?? "internal_error"
        message = said["message"] as? String ?? about
        status = said["status"] as? Int ?? 0
        retryable = said["retryable"] as? Bool ?? false
    }
}

/// JSON objects as dictionaries.
enum JSON {
    static func object(_ data: Data) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    }

    static func text(_ value: Any) throws -> String {
        // JSONSerialization ends the process when a value has no JSON form.
        guard JSONSerialization.isValidJSONObject([value]) else {
            let about = #"{"code": "serialization_error", "message": "a value cannot be written as JSON"}"#
            throw OJSError(number: 30, about: about)
        }
        let data = try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed])
        return String(decoding: data, as: UTF8.self)
    }
}

/// Turns errors of the core into `OJSError`.
func calling<T>(_ body: () async throws -> T) async throws -> T {
    do {
        return try await body()
    } catch let CoreError.Failed(number, about) {
        throw OJSError(number: number, about: about)
    }
}

/// The same for calls that do not wait.
func calling<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let CoreError.Failed(number, about) {
        throw OJSError(number: number, about: about)
    }
}

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
}

/// Talks to an OJS server, or to an engine in this process. Making one opens nothing: it connects with its first call.
///
///     let client = try Client("sqlite:jobs.db")
///     try await client.enqueue("email.send", ["ada@example.com"], options: ["queue": "mail"])
public final class Client: Sendable {
    let core: CoreClient

    /// For `http://host:8080`, `https://…`, `sqlite:jobs.db`, `memory:` or `memory:name`. Settings have the names of
    /// docs/languages.md; lengths of time are seconds.
    public init(_ url: String, settings: [String: Any] = [:]) throws {
        core = try calling { try CoreClient(url: url, settings: JSON.text(settings)) }
    }

    private init(core: CoreClient) {
        self.core = core
    }

    /// The same connection with the requests of one tenant.
    public func ofTenant(_ tenant: String) throws -> Client {
        Client(core: try calling { try core.ofTenant(tenant: tenant) })
    }

    /// Sends a job; the job as the server stored it. Options have the names of the wire.
    @discardableResult
    public func enqueue(_ type: String, _ args: [Any] = [], options: [String: Any] = [:]) async throws -> Job {
        var body: [String: Any] = ["type": type, "args": args]
        if !options.isEmpty { body["options"] = options }
        let answer = try await request("POST", "/jobs", body)
        return Job(members: answer["job"] as? [String: Any] ?? [:])
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
        let sent = try body.map { Data(try JSON.text($0).utf8) }
        let answer = try await calling { try await core.call(method: method, path: path, body: sent, waitMs: nil) }
        return answer.isEmpty ? [:] : try JSON.object(answer)
    }

    /// Releases the connection; an embedded engine is flushed.
    public func close() async throws {
        try await calling { try await core.close() }
    }
}
