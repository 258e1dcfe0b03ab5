#if canImport(Glibc) && DEBUG
import Preferences

/// Processes that set in turn, each as soon as the previous one has returned, often a value that is or was stored
/// already: a process that compares before it has caught up loses such a set.
enum Turns {
    static func work(_ path: String) throws {
        let open = OpenStore(path)
        while let line = readLine() {
            let parts = line.split(separator: " ")
            try open.set(.integer(Int64(parts[1]) ?? -1), for: String(parts[0]))
            writeLine("set", to: 1)
        }
    }

    static func run(_ count: Int, _ report: inout Report) async throws {
        let place = try Place()
        let children = try (0..<4).map { _ in try Child.worker("turns", place.file) }
        var expected: [String: Int] = [:]
        var reader = LineReader<Int>()
        var changes = 0
        for turn in 0..<count {
            let (name, value) = ("name.\(Int.random(in: 0..<3))", Int.random(in: 0..<3))
            let child = children.randomElement() ?? children[0]
            child.send("\(name) \(value)")
            guard child.readLine() == "set" else { throw Obstacle("a process failed in turn \(turn)") }
            if expected.updateValue(value, forKey: name) != value { changes += 1 }
            try reader.readOn(place.file)
            report.expect(reader.values == expected, "turn \(turn): \(reader.values) instead of \(expected)")
            if !report.failures.isEmpty { break }
        }
        report.note(
            "\(count) sets by 4 processes in turn, \(changes) of them changes, each in the file when it returned"
        )
    }
}
#endif
