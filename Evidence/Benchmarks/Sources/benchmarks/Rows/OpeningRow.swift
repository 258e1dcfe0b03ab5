import Foundation
import Measuring
import Preferences

/// Opening and reading the first value in a process that has just started.
enum OpeningRow {
    private static let bare = "read the whole file"
    private static let withFoundation = "Preference, in a program that has Foundation"
    private static let kinds = [PeerKind.userDefaults, .sqlite, .lmdb, .mmkv, .mmkvShared, .dconf, .json]
    private static let kindsForMost = [PeerKind.sqlite, .lmdb, .mmkv, .mmkvShared, .json]

    static func measure(_ bench: Bench) throws -> Outcome {
        var table = Table(
            "Open and first value in a fresh process",
            note:
                "From the opening call to the value, with libraries loaded and files cached in memory. All lines but the first "
                + "are measured in a program that has Foundation. The last column omits peers that take seconds to open that "
                + "many names, or minutes to store them."
        )
        var columns = bench.sizes.map { (title($0), Samples(count: $0), kinds) }
        if let most = bench.sizes.last {
            columns.append((numbersOnly(most), Samples(count: most, kinds: [.integer]), kinds))
        }
        columns.append((title(bench.largest), Samples(count: bench.largest), kindsForMost))
        for (title, samples, kinds) in columns {
            let folder = try bench.place.folder()
            _ = try Ours.inFile(folder, samples)
            let peers = try bench.filled(kinds, samples)
            var contenders = [
                contender(Ours.file, .ours, samples) {
                    try Child(Child.sibling("starts-preferences"), [Ours.url(folder).path, $0, "time"])
                },
                contender(withFoundation, .aside, samples) {
                    try Child(role: role.name, withFoundation, folder, $0)
                },
            ]
            contenders += peers.map { filled in
                contender(filled.kind.product, .peer, samples) {
                    try Child(role: role.name, filled.kind.name, filled.folder, $0)
                }
            }
            contenders.append(contender(bare, .limit, samples) { try Child(role: role.name, bare, folder, $0) })
            try table.add(title, bench.effort, contenders)
        }
        return Outcome(tables: [table], aims: aims(table))
    }

    private static func title(_ count: Int) -> String { "\(Unit.count.text(Double(count))) names" }

    /// Without data: otherwise a fifth of the names have 1 KB of data each, which is most of the file.
    private static func numbersOnly(_ count: Int) -> String { "\(Unit.count.text(Double(count))) Int" }

    /// Returns a contender whose child opens a store, reads a name and writes how long that took; checks the value.
    private static func contender(
        _ name: String,
        _ kind: Contender.Kind,
        _ samples: Samples,
        _ open: @escaping (_ name: String) throws -> Child
    ) -> Contender {
        let asked = samples.names(.integer, most: 2)[1]
        return Contender(name, kind) {
            let answer = try open(asked).readNumbers()
            guard kind == .limit || Samples.name(Int(answer[1])) == asked else {
                throw Failure("\(name) found \(answer[1]) under \(asked)")
            }
            return answer[0]
        }
    }

    /// Opens and reads, and writes how long that took.
    static let role = Role(name: "open") { arguments in
        let (what, folder, name) = (arguments[0], arguments[1], arguments[2])
        var found: Int?
        let time: Double
        switch what {
        case withFoundation:
            time = try seconds {
                let store = try PreferenceStore.file(at: Ours.url(folder))
                found = Preference(name, default: -1, in: store).value
            }
        case bare:
            let path = Ours.url(folder).path
            time = try seconds { found = try BareFile.read(path).count }
        default:
            let kind = try PeerKind.named(what)
            if let library = kind.library { _ = try DynamicLibrary(library, package: library) }
            time = try seconds {
                if case .integer(let number) = try kind.open(folder).value(of: name, as: .integer) { found = number }
            }
        }
        guard let found else { throw Failure("\(what) has nothing for \(name)") }
        writeLine("\(time) \(found)")
    }

    private static func aims(_ table: Table) -> [Aim?] {
        let (sqlite, lmdb) = (PeerKind.sqlite.product, PeerKind.lmdb.product)
        return [
            table.aim("open, 100 names", "faster than SQLite", Ours.file, comparedTo: sqlite, title(100), .atLeast(1)),
            table.aim(
                "open, 1,000 names",
                "faster than SQLite",
                Ours.file,
                comparedTo: sqlite,
                title(1000),
                .atLeast(1)
            ),
            table.aim("open, 1,000 names", "≤ 2× LMDB's", Ours.file, comparedTo: lmdb, title(1000), .atMost(2)),
            table.aim("open, 10,000 names", "≤ 5 ms on this machine", Ours.file, title(10_000), atMost: 0.005),
        ]
            + [title(10_000), numbersOnly(10_000)].map { column in
                table.aim(
                    "open, \(column)",
                    "faster than a JSON file",
                    Ours.file,
                    comparedTo: PeerKind.json.product,
                    column,
                    .atLeast(1)
                )
            }
    }
}
