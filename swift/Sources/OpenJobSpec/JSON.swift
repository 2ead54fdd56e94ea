import Foundation

/// What has a form of its own on the wire.
public protocol JSONForm {
    /// The members on the wire.
    func members() throws -> [String: Any]
}

/// Members without those that are nil.
func given(_ members: [String: Any?]) -> [String: Any] {
    members.compactMapValues { $0 }
}

/// JSON as dictionaries, arrays, texts, numbers and booleans.
enum JSON {
    static func value(_ data: Data) throws -> Any {
        try JSONSerialization.jsonObject(with: data, options: [.fragmentsAllowed])
    }

    static func object(_ data: Data) throws -> [String: Any] {
        try value(data) as? [String: Any] ?? [:]
    }

    static func object(_ text: String) throws -> [String: Any] {
        try object(Data(text.utf8))
    }

    static func text(_ value: Any) throws -> String {
        let plain = try plain(value)
        // JSONSerialization ends the process when a value has no JSON form.
        guard JSONSerialization.isValidJSONObject([plain]) else {
            throw OJSError.refused("serialization_error", "a value cannot be written as JSON")
        }
        let data = try JSONSerialization.data(withJSONObject: plain, options: [.fragmentsAllowed])
        return String(decoding: data, as: UTF8.self)
    }

    static func data(_ value: Any) throws -> Data {
        Data(try text(value).utf8)
    }

    /// The same value with forms of this package as dictionaries, and times as texts.
    private static func plain(_ value: Any) throws -> Any {
        switch value {
        case let form as JSONForm: return try plain(form.members())
        case let time as Date: return timeText(time)
        case let list as [Any]: return try list.map(plain)
        case let object as [String: Any]: return try object.mapValues(plain)
        default: return value
        }
    }
}

/// ISO 8601 in UTC, with milliseconds.
func timeText(_ time: Date) -> String {
    let format = ISO8601DateFormatter()
    format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
    return format.string(from: time)
}
