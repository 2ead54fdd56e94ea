import Foundation

/// Ends a job for good: it is not tried again.
public struct NonRetryable: Error {
    public let message: String
    public let code: String

    public init(_ message: String, code: String = "non_retryable") {
        self.message = message
        self.code = code
    }
}

/// Gives the job back; it runs again after the delay, and no attempt is counted.
public struct Snooze: Error {
    public let delay: Duration

    public init(_ delay: Duration) {
        self.delay = delay
    }
}

/// Gives the job back to its queue; no attempt is counted.
public struct Release: Error {
    public init() {}
}

/// From what a handler did to what the core gets.
struct Outcome {
    static let completed: UInt32 = 0
    static let failed: UInt32 = 1
    static let released: UInt32 = 2
    static let snoozed: UInt32 = 3

    let kind: UInt32
    var payload = Data()
    var delayMs: UInt64 = 0
    /// What the handler threw, where the job has failed.
    var thrown: (any Error)?

    /// Runs a handler.
    static func of(_ ctx: JobContext, _ handler: Handler) async -> Outcome {
        do {
            let result = try await handler(ctx)
            return Outcome(kind: completed, payload: try result.map(JSON.data) ?? Data())
        } catch is CancellationError {
            return Outcome(kind: released)
        } catch is Release {
            return Outcome(kind: released)
        } catch let error as Snooze {
            let delay = try? millis("delay", error.delay)
            return delay.map { Outcome(kind: snoozed, delayMs: $0) }
                ?? failure(error, "a snooze needs a delay of zero or more", "handler_error", retryable: true)
        } catch let error as NonRetryable {
            return failure(error, error.message, error.code, retryable: false)
        } catch let error as OJSError where error.code == "serialization_error" || error.code == "middleware" {
            return failure(error, error.message, error.code, retryable: false)
        } catch {
            return failure(error, String(describing: error), "handler_error", retryable: true)
        }
    }

    private static func failure(_ error: any Error, _ message: String, _ code: String, retryable: Bool) -> Outcome {
        let kind = String(describing: type(of: error))
        let about: [String: Any] = ["message": message, "code": code, "type": kind, "retryable": retryable]
        return Outcome(kind: failed, payload: (try? JSON.data(about)) ?? Data("{}".utf8), thrown: error)
    }

    /// The path of the plain protocol by which it is reported.
    var path: String { kind == Outcome.completed ? "/workers/ack" : "/workers/nack" }

    /// How the plain protocol reports it: the members beside those that name the job.
    func members() throws -> [String: Any] {
        if kind == Outcome.completed { return payload.isEmpty ? [:] : ["result": try JSON.value(payload)] }
        if kind == Outcome.failed { return ["error": try JSON.value(payload)] }
        let word = kind == Outcome.snoozed ? "snooze" : "released"
        var error: [String: Any] = [
            "code": word, "type": word, "message": "given back by the handler", "retryable": true,
        ]
        var members: [String: Any] = ["requeue": true]
        if kind == Outcome.snoozed {
            // Servers without delay_ms read the delay from the details.
            error["details"] = ["snooze_ms": delayMs]
            members["delay_ms"] = delayMs
        }
        members["error"] = error
        return members
    }
}
