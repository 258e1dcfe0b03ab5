import Foundation
import Measuring
import Preferences

/// The time that declarations take when a program starts.
enum DeclareRow {
    private static let count = 200
    private static let read = "Preference, declared and read"
    private static let registered = "UserDefaults, registered"

    static func measure(_ bench: Bench) throws -> Outcome {
        let folder = try bench.place.folder()
        _ = try Ours.inFile(folder, Samples(count: count, kinds: [.integer]))
        func contender(_ what: String, _ kind: Contender.Kind) -> Contender {
            Contender(what, kind) { try Child(role: role.name, what, folder).readNumber() }
        }
        let contenders = [contender(Ours.file, .ours), contender(read, .aside), contender(registered, .peer)]
        let medians = try bench.effort.medians(of: contenders)
        var table = Table(
            "Declaring 200 preferences",
            note:
                "Int, in a fresh process, in a store that is open already. UserDefaults gets all defaults in one call."
        )
        for (column, part) in [("all", 1.0), ("each", Double(count))] {
            table.add(column, zip(contenders, medians).map { ($0.name, $0.kind, $1 / part) })
        }
        return Outcome(tables: [table])
    }

    /// Declares and prints the time.
    static let role = Role(name: "declare") { arguments in
        let (what, folder) = (arguments[0], arguments[1])
        let names = Samples(count: count, kinds: [.integer]).names(.integer)
        if what == registered {
            guard let defaults = UserDefaults(suiteName: "declared") else { throw Failure("no user defaults") }
            writeLine(
                "\(seconds { defaults.register(defaults: Dictionary(uniqueKeysWithValues: names.map { ($0, 0) })) })"
            )
            return
        }
        let store = try PreferenceStore.file(at: Ours.url(folder))
        var preferences: [Preference<Int>] = []
        preferences.reserveCapacity(count)
        let time = seconds {
            for name in names {
                preferences.append(Preference(name, default: 0, in: store))
                if what == read { keep(preferences[preferences.endIndex - 1].value) }
            }
        }
        writeLine("\(time)")
        keep(preferences)
    }
}
