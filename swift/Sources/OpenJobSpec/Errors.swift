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
        let said = (try? JSON.object(about)) ?? [:]
        self.number = number
        code = said["code"] as? String ?? "internal_error"
        message = said["message"] as? String ?? about
        status = said["status"] as? Int ?? 0
        retryable = said["retryable"] as? Bool ?? false
    }

    private init(number: Int32, code: String, message: String) {
        self.number = number
        self.code = code
        self.message = message
        status = 0
        retryable = false
    }

    /// What is wrong before anything is sent.
    static func refused(_ code: String, _ message: String) -> OJSError {
        OJSError(number: 30, code: code, message: message)
    }

    /// A chain of layers that is used in a wrong way.
    static func middleware(_ message: String) -> OJSError {
        OJSError(number: 32, code: "middleware", message: message)
    }

    /// A layer has dropped the job.
    static func notEnqueued() -> OJSError {
        OJSError(number: 31, code: "not_enqueued", message: "a middleware dropped the job")
    }
}

/// Turns errors of the core into `OJSError`.
func awaiting<T>(_ body: () async throws -> T) async throws -> T {
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
