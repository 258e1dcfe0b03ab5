import FileTestSupport
import Preferences
import Synchronization

/// A stack of layers that a seed makes, and what the laws say of it: a sequential model, which knows nothing of slots, locks, turns and
/// candidates.
struct Stack {
    /// One layer of the stack: what it shows of a base.
    struct Part: CustomStringConvertible {
        let base: Int
        let prefix: String
        let isReadOnly: Bool

        var description: String { "\(prefix)base \(base)\(isReadOnly ? ", read-only" : "")" }
    }

    let bases: [Base]
    /// The layers, strongest first.
    let parts: [Part]
    let top: PreferenceStore

    init(_ generator: inout SeededGenerator) {
        bases = (0..<Int.random(in: 1...3, using: &generator)).map { _ in Base(canFail: .random(using: &generator)) }
        var parts = bases.indices.shuffled(using: &generator).map { base in
            Part(
                base: base,
                prefix: Int.random(in: 0..<4, using: &generator) == 0 ? "s." : "",
                isReadOnly: Int.random(in: 0..<3, using: &generator) == 0
            )
        }
        // The same values twice, under another name.
        if Int.random(in: 0..<4, using: &generator) == 0 {
            parts.insert(
                Part(base: 0, prefix: "", isReadOnly: true),
                at: .random(in: 0...parts.count, using: &generator)
            )
        }
        let scope = Int.random(in: 0..<4, using: &generator) == 0 ? "t." : ""
        let layers = parts.enumerated().map { [bases] index, part in
            let store =
                part.prefix.isEmpty ? bases[part.base].store : bases[part.base].store.scoped(prefix: part.prefix)
            return part.isReadOnly ? store.readOnly(named: "layer \(index)") : store
        }
        self.parts = parts.map { Part(base: $0.base, prefix: $0.prefix + scope, isReadOnly: $0.isReadOnly) }
        let stack = PreferenceStore.layered(layers)
        top = scope.isEmpty ? stack : stack.scoped(prefix: scope)
        for base in bases { base.store.issueHandler = { _ in } }
        stack.issueHandler = { _ in }
        top.issueHandler = { _ in }
    }

    /// Changes a stored value below the stack, through the base's store or, if the backend can do so, as another process does.
    func change(_ name: String, of base: Base, to value: PropertyListValue?, isExternal: Bool) {
        if !isExternal || !base.changeOutside(name, to: value) { base.store[name] = value }
    }

    var writable: Part? { parts.first { !$0.isReadOnly } }

    /// The values of all bases.
    var contents: [[String: PropertyListValue]] { bases.map(\.store.contents) }
}

/// A preference of the stack, as the model sees it: values are texts.
struct Subject: Sendable {
    let name: String
    let formerNames: [String]
    let defaultText: String
    /// Returns the text of the value of a stored form; nil if that can't be used.
    let text: @Sendable (PropertyListValue) -> String?
    /// Returns the text of the value that the preference shows.
    let shown: @Sendable () -> String
    /// Assigns a value; returns its text.
    let assign: @Sendable (inout SeededGenerator) -> String
    /// Sets a value in one of the forms that throw; returns its text.
    let write: @Sendable (inout SeededGenerator) throws -> String
    let setInTransaction: @Sendable (inout PreferenceTransaction, inout SeededGenerator) -> String
    let readInTransaction: @Sendable (inout PreferenceTransaction) -> String
    let reset: @Sendable () -> Void
    /// Returns the texts of the values of a sequence.
    let updates: @Sendable () -> any AsyncIteratorProtocol
    /// Waits until Observation was signalled what it is to be signalled.
    let settle: @Sendable () async -> Void
    /// Adds each change of the value to those that were seen.
    let observe: @Sendable (PreferenceTiming, SeenChanges) -> PreferenceObservation

    init<Value: Sendable>(
        _ preference: Preference<Value>,
        formerly formerNames: [String] = [],
        values: [Value],
        _ text: @escaping @Sendable (PropertyListValue) -> String?
    ) {
        name = preference.name
        self.formerNames = formerNames
        defaultText = "\(preference.defaultValue)"
        self.text = text
        shown = { "\(preference.value)" }
        assign = { generator in
            let value = values.pick(&generator)
            preference.value = value
            return "\(value)"
        }
        write = { generator in
            let value = values.pick(&generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: try preference.write(value)
            case 1: try preference.update { $0 = value }
            default: try preference.store.transaction { $0[preference] = value }
            }
            return "\(value)"
        }
        setInTransaction = { transaction, generator in
            let value = values.pick(&generator)
            transaction[preference] = value
            return "\(value)"
        }
        readInTransaction = { "\($0[preference])" }
        reset = { preference.reset() }
        settle = { await preference.settle() }
        updates = { preference.updates.map { "\($0)" }.makeAsyncIterator() }
        observe = { timing, seen in preference.observe(at: timing) { seen.add("\($0.old)", "\($0.new)") } }
    }

    /// Sets a value in any form; returns its text.
    func set(_ generator: inout SeededGenerator) throws -> String {
        Int.random(in: 0..<4, using: &generator) == 0 ? assign(&generator) : try write(&generator)
    }

    /// Returns the text of the value that a stack shows, by the first law.
    func shown(in contents: [[String: PropertyListValue]], _ parts: some Sequence<Stack.Part>) -> String {
        for part in parts {
            for name in [name] + formerNames {
                guard let stored = contents[part.base][part.prefix + name] else { continue }
                if stored == ["$unset": true] { return defaultText }
                if let text = text(stored) { return text }
            }
        }
        return defaultText
    }

    /// Returns the stored forms of a stack, the strongest first.
    func forms(in contents: [[String: PropertyListValue]], _ parts: some Sequence<Stack.Part>) -> [PropertyListValue] {
        parts.flatMap { part in
            ([name] + formerNames).compactMap { contents[part.base][part.prefix + $0] }
        }
    }

    private struct Frame: Codable, CustomStringConvertible {
        var x = 7
        var width = 8

        var description: String { "\(x) × \(width)" }
    }

    /// Creates one of each kind: with a rule, an optional, with members, and with former names.
    static func all(in store: PreferenceStore) -> [Subject] {
        @Sendable func integer(_ stored: PropertyListValue) -> Int64? {
            if case .integer(let value) = stored { value } else { nil }
        }
        return [
            Subject(Preference("a", default: 5, .range(0...9), in: store), values: [0, 3, 5, 8]) { stored in
                integer(stored).flatMap { (0...9).contains($0) ? "\($0)" : nil }
            },
            Subject(Preference<Int?>("b", in: store), values: [nil, 3, 8]) { stored in
                integer(stored).map { String(describing: Optional(Int($0))) }
            },
            Subject(
                Preference("c", default: Frame(), in: store),
                values: [Frame(), Frame(x: 1, width: 2), Frame(x: 3, width: 2)]
            ) {
                guard case .dictionary(let members) = $0 else { return nil }
                let (x, width) = (members["x"].flatMap(integer), members["width"].flatMap(integer))
                return "\(Frame(x: x.map { Int($0) } ?? 7, width: width.map { Int($0) } ?? 8))"
            },
            Subject(
                Preference("d", default: "none", .formerly("e", "f"), in: store),
                formerly: ["e", "f"],
                values: ["none", "text", "new"]
            ) { if case .string(let text) = $0 { text } else { nil } },
        ]
    }

    /// The forms that other programs store under the preference's names.
    static let forms: [PropertyListValue?] = [
        nil, 0, 3, 9, 11, "text", "other", ["x": 1, "width": 2], ["x": 1], ["width": "wide", "extra": 4],
        ["x": 3, "width": 2, "extra": 5],
        ["$unset": true], true, [1],
    ]
}

/// The changes that an observer has received, in order.
final class SeenChanges: Sendable {
    private let changes = Mutex<[String]>([])

    func add(_ old: String, _ new: String) { changes.withLock { $0.append("\(old) → \(new)") } }

    /// Checks that exactly one change was received if the values differ, and none otherwise.
    func requireOnly(_ old: String, _ new: String, _ context: @autoclosure () -> String) throws(Violation) {
        try require(drain(), equals: old == new ? [] : ["\(old) → \(new)"], context())
    }

    /// Removes the changes and returns them.
    func drain() -> [String] {
        changes.withLock { changes in
            defer { changes = [] }
            return changes
        }
    }
}
