#if canImport(Glibc) && DEBUG
import Glibc
import Preferences

/// Processes that write and compact one file are killed at random moments.
enum Kill {
    private static let workers = 4

    /// A set whose call returned, with the times of its begin and end.
    private struct Acknowledged {
        var name: String
        var text: String
        var begin: Int
        var end: Int
    }

    static func work(_ path: String, id: Int, after start: Int) throws {
        let open = OpenStore(path)
        var number = start
        while true {
            number += 1
            let name = Bool.random() ? "shared.\(Int.random(in: 0..<8))" : "own.\(id).\(Int.random(in: 0..<20))"
            // A signal can cut a write of many pages, but not one of few.
            let length = Int.random(in: 0..<60) == 0 ? Int.random(in: 0..<100_000) : Int.random(in: 0..<100)
            let begin = now()
            try open.set(.string(text(id, number, length)), for: name)
            writeLine("\(name) \(number) \(length) \(begin) \(now())", to: 1)
            if Int.random(in: 0..<30) == 0 { try open.compact() }
            // As in `Many`, so that the others find the lock free.
            pause(microseconds: .random(in: 0..<500))
        }
    }

    private static func text(_ id: Int, _ number: Int, _ length: Int) -> String {
        "\(id):\(number):\(length):" + String(repeating: "x", count: length)
    }

    static func run(_ rounds: Int, _ report: inout Report) async throws {
        let place = try Place()
        var numbers = [Int](repeating: 0, count: workers)
        var expected: [String: String] = [:]
        var fragments: Set<[UInt8]> = []
        var (sets, inFlight, cut) = (0, 0, 0)
        for round in 1...rounds {
            let children = try (0..<workers).map { try Child.worker("kill", place.file, "\($0)", "\(numbers[$0])") }
            // Wait until each has set something.
            let firsts = children.map { $0.readLine() }
            for child in children.shuffled() {
                pause(microseconds: .random(in: 0...20_000))
                child.kill()
            }
            var acknowledged: [String: [Acknowledged]] = [:]
            for (id, child) in children.enumerated() {
                report.expect(child.wait() == -SIGKILL, "round \(round): worker \(id) ended by itself")
                for line in [firsts[id]].compactMap(\.self) + child.readLines() {
                    let parts = line.split(separator: " ").map(String.init)
                    guard parts.count == 5, let number = Int(parts[1]), let length = Int(parts[2]),
                        let begin = Int(parts[3]), let end = Int(parts[4])
                    else { throw Obstacle("a worker wrote \(line)") }
                    numbers[id] = number
                    let set = Acknowledged(name: parts[0], text: text(id, number, length), begin: begin, end: end)
                    acknowledged[set.name, default: []].append(set)
                    sets += 1
                }
            }
            // The set that was in progress might be there or not.
            let attempted = Set(numbers.enumerated().map { "\($0.offset):\($0.element + 1):" })
            let open = OpenStore(place.file)
            let found = open.store.contents.compactMapValues { if case .string(let text) = $0 { text } else { nil } }
            for name in Set(expected.keys).union(acknowledged.keys).union(found.keys) {
                let sets = acknowledged[name] ?? []
                let text = found[name]
                if sets.isEmpty, text == expected[name] { continue }
                if let text, attempted.contains(where: text.hasPrefix), isWhole(text) {
                    inFlight += 1
                    continue
                }
                let isRight = sets.contains { set in
                    // Each set that began after this one had ended must have replaced it.
                    set.text == text && !sets.contains { $0.begin > set.end }
                }
                report.expect(
                    isRight,
                    "round \(round): \(name) is \(text?.prefix(20) ?? "absent"), after \(sets.count) acknowledged sets "
                        + "up to \(sets.max { $0.end < $1.end }?.text.prefix(20) ?? "none")"
                )
            }
            let judge = try LineReader<String>(place.file)
            report.expect(judge.values == found, "round \(round): the store and JSONDecoder read different values")
            // So many are named each.
            report.expect(
                min(judge.broken.count, 100) == open.damages,
                "round \(round): \(judge.broken.count) lines are broken and \(open.damages) reported"
            )
            report.expect(open.problems.isEmpty, "round \(round): \(open.problems)")
            let lost = fragments.subtracting(judge.broken)
            report.expect(lost.isEmpty, "round \(round): \(lost.count) of \(fragments.count) fragments are lost")
            fragments = judge.broken
            if judge.isUnfinished { cut += 1 }
            expected = found
            // The rest of a shell that was ended in the middle of its `echo`; the next writer finds it.
            if round.isMultiple(of: 3) {
                let fragment = "{\"cut.\(round)\":\"in the mid"
                try Child.command("printf '\\n\(fragment)' >> \(place.file)")
                fragments.insert(Array(fragment.utf8))
            }
            // Like the next round's workers, which know none of these values.
            numbers = numbers.map { $0 + 2 }
            if !report.failures.isEmpty { break }
        }
        report.note(
            "\(rounds) rounds of \(workers) processes killed: \(sets) acknowledged sets, \(inFlight) under way and found, "
                + "\(cut) cut in the middle of their line, \(fragments.count) fragments reported and kept"
        )
    }

    private static func isWhole(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[3].utf8.count == Int(parts[2])
    }
}
#endif
