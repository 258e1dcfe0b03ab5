import FileTestSupport
import Preferences

/// The law that a program changes nothing that it hasn't set, over sets of programs of two versions.
enum Evolution {
    /// The codings of a value, and the one that reads the members of its stored form.
    private typealias Codings = (
        old: PreferenceCoding<Old>, new: PreferenceCoding<New>, members: PreferenceCoding<PropertyListValue>
    )

    private static let codings: [Codings] = [
        (.propertyList, .propertyList, .propertyList), (.json, .json, .json), (.jsonString, .jsonString, .jsonString),
    ]

    static func check(_ seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let file = folder.path("preferences.jsonl")
        let store: PreferenceStore =
            switch seed % 3 {
            case 0: .inMemory()
            case 1: try PreferenceStore.file(at: file)
            default: .layered([try PreferenceStore.file(at: file), .inMemory()])
            }
        // Each program reports the cases that it doesn't know.
        store.issueHandler = { _ in }
        let codings = Self.codings[Int(seed / 3 % 3)]
        let old = Preference("value", default: Old(), coding: codings.old, in: store)
        let new = Preference("value", default: New(), coding: codings.new, in: store)
        var generator = SeededGenerator(seed: seed)
        for step in 0..<12 {
            if Bool.random(using: &generator) {
                try set(old, codings, step, &generator)
            } else {
                try set(new, codings, step, &generator)
            }
        }
        // Otherwise a store that something holds longer syncs its file when the folder is gone.
        try store.flush()
        withExtendedLifetime(folder) {}
    }

    private static func set<Value: Version>(
        _ preference: Preference<Value>,
        _ codings: Codings,
        _ step: Int,
        _ generator: inout SeededGenerator
    ) throws {
        func leaves() throws -> [String: PropertyListValue] {
            Self.leaves(try preference.storedValue.flatMap(codings.members.decode))
        }
        let before = try leaves()
        let shown = preference.value
        var value = shown
        let edited = value.edit(&generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: preference.value = value
        case 1: try preference.write(value)
        case 2: try preference.update { $0 = value }
        default: try preference.store.transaction { $0[preference] = value }
        }
        let after = try leaves()
        var context: String {
            """
            step \(step), a set of \(edited) in \(Value.self), as \(codings.members.identifier)
            \(before)
            \(after)
            """
        }
        try require(preference.value, equals: value, "\(context)\nthe value that was set")
        for (path, leaf) in before where !path.hasPrefix(edited) {
            try require(after[path], equals: leaf, "\(context)\n\(path)")
        }
        // In what was set, everything that the program doesn't know stays.
        guard ["items", "modes", "entries"].contains(edited) else { return }
        let understood = Self.leaves(try PropertyListValue(encoding: shown))
        for (path, leaf) in before where path.hasPrefix(edited) && understood[path] == nil {
            try require(after[path], equals: leaf, "\(context)\n\(path)")
        }
    }

    /// All members of a value that hold no others, by path; of lists, all elements by their identity.
    private static func leaves(_ value: PropertyListValue?) -> [String: PropertyListValue] {
        var found: [String: PropertyListValue] = [:]
        func add(_ value: PropertyListValue, _ path: String) {
            switch value {
            case .dictionary(let members):
                for (key, member) in members { add(member, path.isEmpty ? key : path + "." + key) }
            case .array(let elements) where path == "entries":
                // JSON has them as a list of keys and values.
                for index in stride(from: 0, to: elements.count, by: 2) {
                    guard case .string(let key) = elements[index] else { continue }
                    add(elements[index + 1], path + "." + key)
                }
            case .array(let elements):
                for element in elements {
                    let key = element[member: "id"]?.description ?? element.description
                    add(element, path + "[" + key + "]")
                }
            default: found[path] = value
            }
        }
        if let value { add(value, "") }
        return found
    }
}
