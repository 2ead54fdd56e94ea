import Foundation
import OpenJobSpecCore

/// Carries requests to an OJS server and answers back, in place of the one that a URL names.
public protocol Transport: Sendable {
    /// Sends one request: `path` is relative to `/ojs/v1`, or begins with `/ojs/`; `body` is JSON. An answer of any
    /// status is an answer; an error means that there was none.
    func send(_ method: String, _ path: String, _ body: Data?) async throws -> Answer
}

/// What came back.
public struct Answer: Sendable {
    /// The status of HTTP.
    public let status: UInt16
    /// The body, JSON.
    public let body: Data

    public init(status: UInt16, body: Data) {
        self.status = status
        self.body = body
    }
}

/// The same as the core sees it.
final class Carried: HostTransport {
    private let transport: any Transport

    init(_ transport: any Transport) {
        self.transport = transport
    }

    func send(method: String, path: String, body: Data?) async throws -> HostAnswer {
        do {
            let answer = try await transport.send(method, path, body)
            return HostAnswer(status: answer.status, body: answer.body)
        } catch {
            throw HostError.NoAnswer(why: String(describing: error))
        }
    }
}
