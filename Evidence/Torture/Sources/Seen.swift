#if canImport(Glibc) && DEBUG
import Preferences

/// Each set of another process is seen, once and in order.
enum Seen {
    /// As many names as sets in a block, so that no set is superseded by the next one before it was seen.
    private static let names = 500

    static func work(_ path: String) throws {
        let open = OpenStore(path)
        var number = 0
        while readLine() != nil {
            for name in 0..<names {
                // The reader has to be waiting again when the next set comes, as in practice.
                pause(microseconds: .random(in: 200...800))
                try open.set(.integer(Int64(number)), for: "name.\(name)")
                number += 1
            }
        }
    }

    static func run(_ count: Int, _ report: inout Report) async throws {
        let place = try Place()
        let blocks = (count + names - 1) / names
        // Created first, as new folders and files are noticed later than a set.
        try OpenStore(place.file).set(-1, for: "made")
        let open = OpenStore(place.file)
        let seen = Lock<[[Int]]>(Array(repeating: [], count: names))
        let observations = (0..<names).map { name in
            Preference("name.\(name)", default: -1, in: open.store).observe { change in
                seen.withLock { $0[name].append(change.new) }
            }
        }
        let writer = try Child.worker("seen", place.file)
        for block in 1...blocks {
            writer.send("set")
            // For at most 10 s.
            for _ in 0..<1000 where seen.withLock({ $0.contains { $0.count < block } }) { pause(microseconds: 10_000) }
        }
        for observation in observations { observation.cancel() }
        let lists = seen.withLock { $0 }
        for name in 0..<names {
            let expected = (0..<blocks).map { $0 * names + name }
            report.expect(lists[name] == expected, "name \(name) was seen as \(lists[name]) instead of \(expected)")
        }
        report.expect(open.problems.isEmpty, "\(open.problems)")
        report.note("\(blocks * names) sets of another process, each seen once, in order")
    }
}
#endif
