import Foundation

/// Lengths of time on the wire. What a length cannot be is refused with its name.
private func seconds(_ length: Duration) -> Double {
    let (whole, attoseconds) = length.components
    return Double(whole) + Double(attoseconds) / 1e18
}

private func notNegative(_ name: String, _ length: Duration) throws -> Duration {
    guard length >= .zero else {
        throw OJSError.refused("validation_error", "\(name) must be zero or more, got \(length)")
    }
    return length
}

/// A length that must not be zero: what means nothing is refused, not left out.
func longerThanNone(_ name: String, _ length: Duration) throws -> Duration {
    guard length > .zero else {
        let message = "\(name) must be longer than 0, got \(length); leave it out for the default"
        throw OJSError.refused("validation_error", message)
    }
    return length
}

/// Whole milliseconds: what is shorter than one is one, for 0 would mean none.
func wireMillis(_ name: String, _ length: Duration) throws -> Int {
    max(1, Int(seconds(try longerThanNone(name, length)) * 1000))
}

/// Whole milliseconds, which may be none.
func millis(_ name: String, _ length: Duration) throws -> UInt64 {
    UInt64(seconds(try notNegative(name, length)) * 1000)
}

/// Whole seconds, rounded up.
func wireSeconds(_ name: String, _ length: Duration) throws -> Int {
    Int(seconds(try notNegative(name, length)).rounded(.up))
}

/// The time that is so far away.
func after(_ name: String, _ length: Duration) throws -> String {
    timeText(Date(timeIntervalSinceNow: seconds(try notNegative(name, length))))
}

/// ISO 8601: `PT90S`, `PT0.5S`.
func durationText(_ length: Duration) throws -> String {
    let (whole, attoseconds) = try notNegative("a duration", length).components
    let digits = attoseconds / 1_000_000_000
    guard digits > 0 else { return "PT\(whole)S" }
    var fraction = String(digits)
    fraction = String(repeating: "0", count: 9 - fraction.count) + fraction
    while fraction.hasSuffix("0") { fraction.removeLast() }
    return "PT\(whole).\(fraction)S"
}
