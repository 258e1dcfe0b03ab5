import Foundation
import Measuring
import Preferences

/// Opening and reading the first value in a process that has just begun.
enum OpeningRow {
    private static let bare = "read the whole file"
    private static let kinds = [
        PeerKind.userDefaults, .sqlite, .lmdb, .dconf, .keyFile, .json, .propertyList,
    ]

    static func measure(_ bench: Bench) throws -> Outcome {
        var table = Table(
            "Open and first value in a fresh process",
            note:
                "From the call that opens to the value; what is linked or loaded is there already, files are in memory."
        )
        for count in bench.sizes {
            let samples = Samples(count: count)
            let name = samples.names(.integer, most: 1)[0]
            let folder = try bench.place.folder()
            _ = try Ours.inFile(folder, samples)
            let peers = try bench.filled(kinds, samples)
            var contenders = [contender(Ours.file, .ours, folder, name)]
            contenders += peers.map { contender($0.kind.name, .peer, $0.folder, name) }
            contenders.append(contender(bare, .limit, folder, name))
            try withExtendedLifetime(peers) { try table.add(title(count), bench.effort, contenders) }
        }
        return Outcome(
            tables: [table],
            aims: aims(table),
            charts: [
                BarChart(
                    "performance-open.svg",
                    "Open and first value in a fresh process",
                    table,
                    columns: bench.sizes.map(title)
                )
            ]
        )
    }

    private static func title(_ count: Int) -> String { "\(Unit.count.text(Double(count))) names" }

    private static func contender(_ what: String, _ kind: Contender.Kind, _ folder: String, _ name: String) -> Contender
    {
        Contender(kind == .peer ? String(what.prefix { $0 != "," }) : what, kind) {
            try Child(role: role.name, what, folder, name).readNumber()
        }
    }

    /// Opens and reads, and tells how long that took.
    static let role = Role(name: "open") { arguments in
        let (what, folder, name) = (arguments[0], arguments[1], arguments[2])
        var found: Int?
        let time: Double
        switch what {
        case Ours.file:
            time = try seconds {
                let store = try PreferenceStore.file(at: Ours.url(folder))
                found = Preference(name, default: -1, in: store).value
            }
        case bare:
            time = try seconds { found = try Data(contentsOf: Ours.url(folder)).count }
        default:
            let kind = try PeerKind.named(what)
            if let library = kind.library { _ = try DynamicLibrary(library, package: library) }
            time = try seconds {
                if case .integer(let number) = try kind.open(folder).value(of: name, as: .integer) { found = number }
            }
        }
        guard let found, found >= 0 else { throw Failure("\(what) has nothing for \(name)") }
        tell("\(time)")
    }

    private static func aims(_ table: Table) -> [Aim?] {
        let sqlite = PeerKind.sqlite.product
        return [
            Aim(
                "open, 100 names",
                "≤ SQLite's",
                table.ratio(Ours.file, to: sqlite, title(100)),
                .atMost(1)
            ),
            Aim(
                "open, 1,000 names",
                "≤ 2× SQLite's",
                table.ratio(Ours.file, to: sqlite, title(1000)),
                .atMost(2)
            ),
            Aim(
                "open, 10,000 names",
                "≤ 10 ms",
                table.value(Ours.file, title(10_000)),
                .atMost(0.01),
                table.unit.text
            ),
        ]
    }
}
