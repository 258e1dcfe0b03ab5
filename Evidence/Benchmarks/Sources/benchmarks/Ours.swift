import Foundation
import Measuring
import Preferences

/// The library itself, as a contender.
enum Ours {
    static let memory = "Preference, in memory"
    static let file = "Preference, in a file"

    static func inMemory(_ samples: Samples) -> PreferenceStore { .inMemory(samples.storedValues) }

    /// Creates a store over a new file in a folder, with one name per line, as in a compacted file.
    static func inFile(_ folder: String, _ samples: Samples, _ durability: PreferenceDurability = .background) throws
        -> PreferenceStore
    {
        let store = try PreferenceStore.file(at: url(folder))
        for (name, value) in samples.storedValues { try store.transaction { $0[name] = value } }
        // The same store, from now on with this durability.
        return try PreferenceStore.file(at: url(folder), durability: durability)
    }

    static func url(_ folder: String) -> URL { URL(filePath: folder).appending(path: "preferences.jsonl") }

    /// Reads one preference of a kind `count` times.
    static func reading(_ kind: Kind, _ name: String, _ store: PreferenceStore) -> (Int) -> Void {
        switch kind {
        case .boolean: reading(Preference(name, default: false, in: store))
        case .integer: reading(Preference(name, default: 0, in: store))
        case .text: reading(Preference(name, default: "", in: store))
        case .data: reading(Preference(name, default: Data(), in: store))
        case .record: reading(Preference(name, default: Profile(), in: store))
        }
    }

    @inline(__always)
    private static func reading<Value>(_ preference: Preference<Value>) -> (Int) -> Void {
        { count in
            for _ in 0..<count { keep(preference.value) }
        }
    }

    /// Sets preferences of a kind in turn, each to another value than it has.
    static func setting(_ kind: Kind, _ names: [String], _ store: PreferenceStore) -> (Int) -> Void {
        switch kind {
        case .boolean: setting(names.map { Preference($0, default: false, in: store) }) { $0.isMultiple(of: 2) }
        case .integer: setting(names.map { Preference($0, default: 0, in: store) }) { $0 }
        case .text: setting(names.map { Preference($0, default: "", in: store) }, Samples.text)
        case .data: setting(names.map { Preference($0, default: Data(), in: store) }, Samples.data)
        case .record: setting(names.map { Preference($0, default: Profile(), in: store) }, Samples.profile)
        }
    }

    @inline(__always)
    private static func setting<Value>(_ preferences: [Preference<Value>], _ value: (Int) -> Value) -> (Int) -> Void {
        var turn = Turn(preferences.count)
        let values = Turn.values.map(value)
        return { count in
            for _ in 0..<count {
                let (name, value) = turn.next()
                preferences[name].value = values[value]
            }
        }
    }
}

/// The order in which names are set to some values, so that no name is set to the value that it has.
struct Turn {
    /// The numbers that the values are made from.
    static let values = Samples.fresh..<(Samples.fresh + 64)
    /// The most names that are set in turn.
    static let names = 16

    private let names: Int
    private var number = 0

    init(_ names: Int) { self.names = names }

    mutating func next() -> (name: Int, value: Int) {
        number += 1
        let (round, name) = number.quotientAndRemainder(dividingBy: names)
        return (name, (name + round) % Self.values.count)
    }
}
