#if canImport(Glibc) && DEBUG
import Preferences

/// Two processes, of two versions of a program, that count at once in parts of one value, of which each version has members, at any depth,
/// that the other one doesn't know.
enum Versions {
    private static let name = "settings"

    private struct Old: Version {
        struct Part: Codable { var old = 0 }
        struct Item: EvolvingValue, Identifiable { var id = 0, old = 0 }
        var old = 0
        var part = Part()
        var items: [Item] = []

        static let counters: [Counter] = [\.old, \.part.old, \.items[0].old, \.items[1].old]
    }

    private struct New: Version {
        struct Part: Codable { var new = 0 }
        struct Item: EvolvingValue, Identifiable { var new = 0, id = 0 }
        var items: [Item] = []
        var part = Part()
        var new = 0

        static let counters: [Counter] = [\.new, \.part.new, \.items[0].new, \.items[1].new]
    }

    /// The value as it is stored, with members that neither version knows.
    private struct Stored: Codable, Equatable {
        struct Members: Codable, Equatable {
            var id, old, new: Int?
            var later: [String]?
        }
        var old, new: Int?
        var later: String?
        var part: Members
        var items: [Members]
    }

    private static let initial: PropertyListValue = [
        "later": "kept", "part": ["later": ["kept"]],
        "items": [["id": 0, "later": ["kept"]], ["id": 1, "later": ["kept", "too"]]],
    ]

    static func work(_ path: String, _ version: String, _ count: Int) throws {
        if version == "old" { try work(path, as: Old.self, count) } else { try work(path, as: New.self, count) }
    }

    private static func work<Value: Version>(_ path: String, as type: Value.Type, _ count: Int) throws {
        let open = OpenStore(path)
        let preference = Preference(name, default: Value(), in: open.store)
        writeLine("open", to: 1)
        _ = readLine()
        for done in 0..<count {
            let counter = Value.counters[done % Value.counters.count]
            // Mostly whole values, which were read earlier.
            switch done / Value.counters.count % 4 {
            case 0: try preference.update { $0[keyPath: counter] += 1 }
            case 1: try preference[counter].write(preference[counter].value + 1)
            default:
                var value = preference.value
                value[keyPath: counter] += 1
                try preference.write(value)
            }
        }
        guard open.damages == 0, open.problems.isEmpty else {
            throw Obstacle("\(open.damages) damages, \(open.problems)")
        }
    }

    static func run(_ count: Int, _ report: inout Report) async throws {
        let place = try Place()
        try OpenStore(place.file).set(initial, for: name)
        let children = try ["old", "new"].map { try Child.worker("versions", place.file, $0, "\(count)") }
        for child in children { _ = child.readLine() }
        for child in children { child.send("start") }
        for child in children { report.expect(child.wait() == 0, "a process ended with \(child.wait())") }
        let counts = (0..<4).map { counter in (0..<count).count { $0 % 4 == counter } }
        let items = [["kept"], ["kept", "too"]].enumerated().map { index, later in
            Stored.Members(id: index, old: counts[index + 2], new: counts[index + 2], later: later)
        }
        let part = Stored.Members(old: counts[1], new: counts[1], later: ["kept"])
        let expected = Stored(old: counts[0], new: counts[0], later: "kept", part: part, items: items)
        let reader = try LineReader<Stored>(place.file)
        report.expect(
            reader.values[name] == expected,
            "\(String(describing: reader.values[name])) instead of \(expected)"
        )
        report.expect(reader.broken.isEmpty, "\(reader.broken.count) lines are broken")
        report.note("2 × \(count) sets at once in members that one version knows")
    }
}

/// The value as one version of the program declares it.
private protocol Version: Codable, Sendable {
    typealias Counter = any WritableKeyPath<Self, Int> & Sendable

    static var counters: [Counter] { get }
    init()
}
#endif
