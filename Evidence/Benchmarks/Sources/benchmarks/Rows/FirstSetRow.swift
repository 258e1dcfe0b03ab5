import Foundation
import Measuring
import Preferences

/// The first set after a store was opened, compared to those that follow.
enum FirstSetRow {
    private static let first = "first set after opening"
    private static let later = "a set afterwards"

    static func measure(_ bench: Bench) throws -> Outcome {
        var table = Table(
            "First set after opening",
            note: "Int, in a process that has set before in another store, and has read one value of this one."
        )
        let small = try bench.place.folder()
        _ = try Ours.inFile(small, Samples(count: 100))
        for count in bench.sizes.dropFirst() + [bench.largest] {
            let folder = try bench.place.folder()
            _ = try Ours.inFile(folder, Samples(count: count))
            let figures = try (0..<bench.effort.rounds).map { _ in
                try Child(role: role.name, small, folder).readNumbers()
            }
            table.add(
                title(count),
                [(first, .ours, median(figures.map { $0[0] })), (later, .limit, median(figures.map { $0[1] }))]
            )
        }
        let column = title(100_000)
        return Outcome(
            tables: [table],
            aims: [
                table.aim(first, "≤ 3× a set afterwards, 100,000 names", first, comparedTo: later, column, .atMost(3))
            ]
        )
    }

    private static func title(_ count: Int) -> String { "\(Unit.count.text(Double(count))) names" }

    /// Prints the time of the first set and of one that follows.
    static let role = Role(name: "first-set") { arguments in
        let (small, folder) = (arguments[0], arguments[1])
        let names = Samples(count: 100).names(.integer, most: 1)
        // The first use of the library's code in a process costs more, whichever store it is.
        let other = try PreferenceStore.file(at: Ours.url(small))
        Ours.setting(.integer, names, other)(1000)
        let preference = Preference(names[0], default: 0, in: try .file(at: Ours.url(folder)))
        keep(preference.value)
        let start = now()
        func time(_ number: Int) -> Double { seconds { preference.value = start + number } }
        let first = time(0)
        writeLine("\(first) \(median((1...200).map(time)))")
        withExtendedLifetime(other) {}
    }
}
