#if canImport(Glibc)
import FoundationEssentials
import Preferences

/// Processes of two versions of a program that set parts of one value, of which each version knows members, at any depth, and cases
/// that the other one doesn't know.
enum Versions {
    private static let name = "settings"
    /// The processes, each with members and a case of its name; the first two are of the older version.
    private static let processes = ["first", "second", "third", "fourth"]

    private struct Old: Version {
        enum Mode: String, Codable, CaseIterable { case plain, first, second }
        struct Part: Codable { var first = 0, second = 0 }
        struct Item: VersionItem { var id = 0, shared = 0, first = 0, second = 0 }
        var shared = 0, first = 0, second = 0
        var oldNote: String?
        var part = Part()
        var items: [Item] = []
        var modes: [Mode] = []

        static let counters: [String: [Counter]] = [
            "first": [\.first, \.part.first, \.items[0].first, \.items[1].first],
            "second": [\.second, \.part.second, \.items[0].second, \.items[1].second],
        ]
        static var note: WritableKeyPath<Self, String?> { \.oldNote }
    }

    private struct New: Version {
        enum Mode: String, Codable, CaseIterable { case fourth, third, plain }
        struct Part: Codable { var fourth = 0, third = 0 }
        struct Item: VersionItem { var id = 0, fourth = 0, third = 0, shared = 0 }
        var modes: [Mode] = []
        var items: [Item] = []
        var part = Part()
        var newNote: String?
        var fourth = 0, third = 0, shared = 0

        static let counters: [String: [Counter]] = [
            "third": [\.third, \.part.third, \.items[0].third, \.items[1].third],
            "fourth": [\.fourth, \.part.fourth, \.items[0].fourth, \.items[1].fourth],
        ]
        static var note: WritableKeyPath<Self, String?> { \.newNote }
    }

    /// The paths of the counters of a process, in the order of `Version.counters`.
    private static func counters(of process: String) -> [String] {
        [".", ".part.", ".items[0].", ".items[1]."].map { $0 + process }
    }

    /// The value that is stored at first: members and a case that neither version knows, and two elements.
    private static let initial: PropertyListValue = [
        "later": ["a": "kept"], "part": ["later": "kept"], "modes": ["later"],
        "items": [["id": 0, "later": "kept"], ["id": 1, "later": ["kept", "too"]]],
    ]

    static func run(_ count: Int, _ report: inout Report) async throws {
        try runInTurn(count, &report)
        try runAtOnce(count, processes, setsWholeValues: false, &report)
        try runAtOnce(count, ["first", "third"], setsWholeValues: true, &report)
    }

    static func work(_ path: String, _ process: String, _ arguments: [String]) throws {
        if Old.counters[process] != nil {
            try work(path, as: Old.self, process, arguments)
        } else {
            try work(path, as: New.self, process, arguments)
        }
    }

    private static func work<Value: Version>(
        _ path: String,
        as type: Value.Type,
        _ process: String,
        _ arguments: [String]
    ) throws {
        let open = OpenStore(path)
        let preference = Preference(name, default: Value(), in: open.store)
        if let count = arguments.first.flatMap({ Int($0) }) {
            try setAtOnce(preference, process, count, setsWholeValues: arguments.last == "whole")
        } else {
            try setInTurn(preference)
        }
        // A case of the other version is reported.
        let problems = open.problems.filter { $0.code != .unreadable }
        guard open.damages == 0, problems.isEmpty else { throw Obstacle("\(open.damages) damages, \(problems)") }
    }

    // MARK: In turn

    /// A set, whose values the experiment reads as `Leaves`.
    private struct Answer<Value: Codable>: Codable {
        /// The value that the program changed.
        var shown: Value
        var set: Value
        /// The value that the program reads afterwards.
        var read: Value
    }

    private static func setInTurn<Value: Version>(_ preference: Preference<Value>) throws {
        while let line = readLine() {
            let turn = Int(line) ?? -1
            var (shown, set) = (Value(), Value())
            switch Int.random(in: 0..<5) {
            case 0:
                try preference.update { value in
                    shown = value
                    value.edit(turn)
                    set = value
                }
            case 1:
                try preference.store.transaction { transaction in
                    shown = transaction[preference]
                    set = shown
                    set.edit(turn)
                    transaction[preference] = set
                }
            case 2:
                let counter = Value.counters.values.joined().randomElement() ?? \.shared
                preference[counter].value = turn
                set = preference.value
                // The value that was shown before can be older; only the difference counts.
                shown = set
                shown[keyPath: counter] = -1
            case let form:
                // A whole value that was read earlier reverts what the version's other process has set since.
                try preference.store.load()
                shown = preference.value
                set = shown
                set.edit(turn)
                if form == 3 { preference.value = set } else { try preference.write(set) }
            }
            let answer = Answer(shown: shown, set: set, read: preference.value)
            writeLine(String(decoding: try JSONEncoder().encode(answer), as: UTF8.self), to: 1)
        }
    }

    private static func runInTurn(_ count: Int, _ report: inout Report) throws {
        let place = try Place()
        try OpenStore(place.file, watcher: nil).set(initial, for: name)
        let children = try processes.map { try Child.worker("versions", place.file, $0) }
        var reader = try LineReader<Leaves>(place.file)
        var before = reader.values[name] ?? Leaves()
        var (others, changes) = (0, 0)
        // The numbers before are those of the first elements.
        for turn in 2..<count + 2 {
            let index = children.indices.randomElement() ?? 0
            children[index].send("\(turn)")
            guard let line = children[index].readLine() else { throw Obstacle("a process failed in turn \(turn)") }
            let answer = try JSONDecoder().decode(Answer<Leaves>.self, from: Data(line.utf8))
            let otherNames = (index < 2 ? ["third", "fourth", "newNote"] : ["first", "second", "oldNote"]) + ["later"]
            let isOther = { (path: String) in otherNames.contains { path.contains($0) } }
            others += before.values.keys.count(where: isOther)
            if answer.shown != answer.set { changes += 1 }

            let expected = before.changed(from: answer.shown, to: answer.set)
            try reader.readOn(place.file)
            let found = reader.values[name] ?? Leaves()
            let title = "turn \(turn), by the \(processes[index])"
            expectOnlyDefaults(besides: expected, in: found, title, &report)
            for (list, keys) in found.lists {
                report.expect(
                    before.allows(keys, in: list, changedFrom: answer.shown, to: answer.set),
                    "\(title): \(list) is \(keys), from \(before.lists[list] ?? [])"
                )
            }
            // The program reads what is stored, and defaults.
            let known = Leaves(values: found.values.filter { !isOther($0.key) })
            expectOnlyDefaults(besides: known, in: answer.read, title + ", read", &report)
            before = found
            if !report.failures.isEmpty { break }
        }
        end(children, &report)
        report.expect(reader.broken.isEmpty, "\(reader.broken.count) lines are broken")
        report.note(
            "\(count) sets by 4 processes of 2 versions in turn, \(changes) of them changes; \(others) members and elements that the "
                + "version of a set doesn't know were compared, and were as before"
        )
    }

    private static func expectOnlyDefaults(
        besides expected: Leaves,
        in found: Leaves,
        _ title: String,
        _ report: inout Report
    ) {
        for (path, value) in expected.values where found.values[path] != value {
            report.expect(false, "\(title): \(path) is \(found.values[path] ?? "absent") instead of \(value)")
        }
        for (path, value) in found.values where expected.values[path] == nil && value != "0" {
            report.expect(false, "\(title): \(path) is \(value) instead of absent")
        }
    }

    private static func end(_ children: [Child], _ report: inout Report) {
        for child in children {
            child.endInput()
            report.expect(child.wait() == 0, "a process ended with \(child.wait())")
        }
    }

    // MARK: At once

    private static func setAtOnce<Value: Version>(
        _ preference: Preference<Value>,
        _ process: String,
        _ count: Int,
        setsWholeValues: Bool
    ) throws {
        let counters = Value.counters[process] ?? []
        writeLine("open", to: 1)
        _ = readLine()
        var (done, conflicts) = (0, 0)
        while done < count {
            let counter = counters[done % counters.count]
            do {
                switch form(of: done, setsWholeValues) {
                case .update:
                    try preference.update { value in
                        value[keyPath: counter] += 1
                        // A whole value that was read earlier would revert what both versions know.
                        if !setsWholeValues { value.shared += 1 }
                        Value.Mode(rawValue: process).map { value.toggle($0) }
                    }
                case .member: try preference[counter].write(preference[counter].value + 1)
                case .whole:
                    var value = preference.value
                    value[keyPath: counter] += 1
                    try preference.write(value)
                }
                done += 1
            } catch let error as PreferenceError where error.code == .conflict {
                conflicts += 1
            }
        }
        writeLine("\(conflicts)", to: 1)
        Worker.finish()
    }

    private enum Form { case update, member, whole }

    private static func form(of number: Int, _ setsWholeValues: Bool) -> Form {
        let forms: [Form] = setsWholeValues ? [.update, .member, .whole, .whole, .whole, .whole] : [.update, .member]
        // Each for each of the counters.
        return forms[number / 4 % forms.count]
    }

    private static func runAtOnce(
        _ count: Int,
        _ processes: [String],
        setsWholeValues: Bool,
        _ report: inout Report
    ) throws {
        let place = try Place()
        try OpenStore(place.file, watcher: nil).set(initial, for: name)
        var expected = try LineReader<Leaves>(place.file).values[name] ?? Leaves()
        let children = try processes.map {
            try Child.worker("versions", place.file, $0, "\(count)", setsWholeValues ? "whole" : "parts")
        }
        for child in children { _ = child.readLine() }
        for child in children { child.send("start") }
        let conflicts = children.reduce(0) { $0 + ($1.readLine().flatMap { Int($0) } ?? 0) }
        for child in children { _ = child.readLine() }
        end(children, &report)

        let updates = (0..<count).count { form(of: $0, setsWholeValues) == .update }
        for process in processes {
            for (index, path) in counters(of: process).enumerated() where index < count {
                expected.values[path] = "\((0..<count).count { $0 % 4 == index })"
            }
            if !updates.isMultiple(of: 2) { expected.values[".modes[\(process)]"] = process }
        }
        let shared = setsWholeValues ? 0 : updates * processes.count
        expected.values[".shared"] = "\(shared)"
        let reader = try LineReader<Leaves>(place.file)
        let found = reader.values[name] ?? Leaves()
        expectOnlyDefaults(besides: expected, in: found, "at once", &report)
        let modes = found.lists[".modes"] ?? []
        report.expect(Set(modes).count == modes.count, "at once: \(modes) has one twice")
        report.expect(reader.broken.isEmpty, "\(reader.broken.count) lines are broken")
        let sum = processes.flatMap(counters).reduce(0) { $0 + (found.values[$1].flatMap { Int($0) } ?? 0) }
        let shown = Int(found.values[".shared"] ?? "") ?? 0
        report.note(
            "\(sum) of \(processes.count) × \(count) sets at once in members that one version knows, "
                + (setsWholeValues ? "most by whole values" : "and \(shown) of \(shared) updates of one that both know")
                + "; \(conflicts) begun again after 64 conflicts"
        )
    }
}

// MARK: Versions

/// The value as one version of the program declares it.
private protocol Version: Codable, Sendable {
    associatedtype Item: VersionItem
    associatedtype Mode: RawRepresentable<String>, CaseIterable, Equatable
    typealias Counter = any WritableKeyPath<Self, Int> & Sendable

    var shared: Int { get set }
    var items: [Item] { get set }
    var modes: [Mode] { get set }
    /// The numbers that each process of the version counts.
    static var counters: [String: [Counter]] { get }
    static var note: WritableKeyPath<Self, String?> { get }
    init()
}

private protocol VersionItem: EvolvingValue, Identifiable<Int> {
    var id: Int { get set }
    var shared: Int { get set }
}

extension Version {
    /// Changes something at random, to `turn` if it is a number.
    mutating func edit(_ turn: Int) {
        switch Int.random(in: 0..<8) {
        case 0: shared = turn
        case 1: self[keyPath: Self.note] = Bool.random() ? "turn \(turn)" : nil
        case 2 where items.count < 6:
            var item = Item()
            (item.id, item.shared) = (turn, turn)
            items.insert(item, at: .random(in: 0...items.count))
        case 3 where items.count > 2: items.remove(at: .random(in: 0..<items.count))
        case 4:
            items.swapAt(.random(in: 0..<items.count), .random(in: 0..<items.count))
            items[.random(in: 0..<items.count)].shared = turn
        case 5: for index in items.indices { items[index].shared = turn }
        case 6: Mode.allCases.randomElement().map { toggle($0) }
        default: for counter in Self.counters.values.joined().shuffled().prefix(2) { self[keyPath: counter] = turn }
        }
    }

    mutating func toggle(_ mode: Mode) {
        if let index = modes.firstIndex(of: mode) {
            modes.remove(at: index)
        } else {
            modes.insert(mode, at: .random(in: 0...modes.count))
        }
    }
}

/// A value in JSON as its numbers and texts by path, such as `.part.first` and `.items[7].id`, in which an element has its `id`, or
/// itself, as its key.
private struct Leaves: Codable, Equatable {
    var values: [String: String] = [:]
    /// The keys of the elements of each list, in order.
    private(set) var lists: [String: [String]] = [:]

    init(values: [String: String] = [:]) { self.values = values }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let members = Self.attempt({ try container.decode([String: Leaves].self) }) {
            for (name, member) in members { add(member, at: "." + name) }
        } else if let elements = Self.attempt({ try container.decode([Leaves].self) }) {
            lists[""] = elements.map { $0.values[".id"] ?? $0.values[""] ?? "" }
            for (key, element) in zip(lists[""] ?? [], elements) { add(element, at: "[\(key)]") }
        } else if let number = Self.attempt({ try container.decode(Int.self) }) {
            values[""] = "\(number)"
        } else {
            values[""] = try container.decode(String.self)
        }
    }

    /// Returns the result of `body`, or nil if the value is of another kind.
    private static func attempt<Result>(_ body: () throws -> Result) -> Result? {
        do { return try body() } catch { return nil }
    }

    private mutating func add(_ leaves: Leaves, at path: String) {
        for (rest, value) in leaves.values { values[path + rest] = value }
        for (rest, keys) in leaves.lists { lists[path + rest] = keys }
    }

    /// Returns what must be stored after a program has changed `shown`, the part of this that it knows, to `set`.
    func changed(from shown: Leaves, to set: Leaves) -> Leaves {
        var changed = self
        for (path, value) in set.values where shown.values[path] != value { changed.values[path] = value }
        for path in shown.values.keys where set.values[path] == nil { changed.values[path] = nil }
        for (list, keys) in shown.lists {
            // An element's unknown members go with it.
            for key in keys where set.lists[list]?.contains(key) != true {
                changed.values = changed.values.filter { !$0.key.hasPrefix("\(list)[\(key)]") }
            }
        }
        return changed
    }

    /// Returns whether a list may be in this order after that change: known elements are as they were set, others as before.
    func allows(_ keys: [String], in list: String, changedFrom shown: Leaves, to set: Leaves) -> Bool {
        let (before, known, new) = (lists[list] ?? [], shown.lists[list] ?? [], set.lists[list] ?? [])
        if known == new { return keys == before }
        return keys.filter(new.contains) == new
            && keys.filter { !new.contains($0) } == before.filter { !known.contains($0) }
    }
}
#endif
