import Foundation
import Glibc

/// The roles of this program as a child of itself: `benchmarks child NAME ARGUMENT…`.
struct Role: Sendable {
    let name: String
    let run: @Sendable (_ arguments: [String]) throws -> Void

    static let all = [OpeningRow.role, WritersRow.role, WritersRow.finding, ChangeRow.role, IdleRow.role]

    static func run(_ arguments: [String]) throws {
        guard let role = all.first(where: { $0.name == arguments.first }) else {
            throw Failure("no role: \(arguments)")
        }
        try role.run(Array(arguments.dropFirst()))
    }
}

/// Writes a line to the output at once, without a buffer.
func writeLine(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(1, bytes, bytes.count)
}

/// Returns nanoseconds of the clock that all processes share.
func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
