import Foundation

/// Batches of jobs and outcomes in one block of bytes: include/ojs_frame.h.
enum Frames {
    private static let jobs: UInt32 = 0x4A53_4A4F
    private static let outcomes: UInt32 = 0x4F53_4A4F
    private static let header = 16
    private static let outcome = 32

    struct Entry {
        let token: UInt64
        let envelope: Data
        let id: String
        let type: String
        let queue: String
        let attempt: Int
    }

    struct Outcome {
        let token: UInt64
        /// 0 completed, 1 failed, 2 released, 3 snoozed.
        let kind: UInt32
        var payload = Data()
        var delayMs: UInt64 = 0
    }

    static func read(_ frame: Data) -> [Entry] {
        let bytes = [UInt8](frame)
        guard bytes.count >= header, number(bytes, 0, 4) == UInt64(jobs) else { return [] }
        let size = Int(number(bytes, 6, 2))
        return (0..<Int(number(bytes, 8, 4))).map { index in
            let at = header + index * size
            return Entry(
                token: number(bytes, at, 8), envelope: Data(slice(bytes, at + 8)), id: text(bytes, at + 16),
                type: text(bytes, at + 24),
                queue: text(bytes, at + 32), attempt: Int(number(bytes, at + 40, 4)))
        }
    }

    static func write(_ list: [Outcome]) -> Data {
        var at = header + list.count * outcome
        let total = at + list.reduce(0) { $0 + $1.payload.count }
        var out = Data(capacity: total)
        append(&out, UInt64(outcomes), 4)
        append(&out, 1, 2)
        append(&out, UInt64(outcome), 2)
        append(&out, UInt64(list.count), 4)
        append(&out, UInt64(total), 4)
        for one in list {
            append(&out, one.token, 8)
            append(&out, UInt64(one.kind), 4)
            append(&out, 0, 4)
            append(&out, UInt64(at), 4)
            append(&out, UInt64(one.payload.count), 4)
            append(&out, one.delayMs, 8)
            at += one.payload.count
        }
        for one in list { out.append(one.payload) }
        return out
    }

    private static func number(_ bytes: [UInt8], _ at: Int, _ count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) }
    }

    private static func slice(_ bytes: [UInt8], _ at: Int) -> ArraySlice<UInt8> {
        let begin = Int(number(bytes, at, 4))
        return bytes[begin..<begin + Int(number(bytes, at + 4, 4))]
    }

    private static func text(_ bytes: [UInt8], _ at: Int) -> String {
        String(decoding: slice(bytes, at), as: UTF8.self)
    }

    private static func append(_ out: inout Data, _ value: UInt64, _ count: Int) {
        for shift in 0..<count { out.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * shift))) }
    }
}
