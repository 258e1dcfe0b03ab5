import Measuring
import Preferences

/// Sets that survive a loss of power when they return.
enum DurableRow {
    private static let one = "one set"
    private static let batch = "100 sets as one"
    private static let bare = "write, fdatasync"

    static func measure(_ bench: Bench) throws -> Outcome {
        let samples = Samples(count: 1000)
        let names = samples.names(.integer, most: 100)
        let store = try Ours.inFile(try bench.place.folder(), samples, .immediate)
        let peers = try bench.filled([.sqliteFull, .lmdbSynced, .mmkvSynced], samples)
        let line = "{\"\(names[0])\":1234}\n"
        let file = try BareFile(try bench.place.folder() + "/bare", line: line)
        let long = try BareFile(try bench.place.folder() + "/long", line: String(repeating: line, count: names.count))

        var table = Table(
            "Set that survives a loss of power",
            note:
                "Int, 1,000 names stored. On a virtual disk. MMKV has no transaction: its 100 sets are only synced together."
        )
        // Enough that a sample isn't a single sync of a busy disk, and few enough that it ends.
        let (length, most) = (bench.effort.length * 5, 20)
        try table.add(
            one,
            bench.effort,
            [
                .timed(Ours.file, .ours, length: length, most: most, Ours.setting(.integer, names, store))
            ]
                + peers.map { filled in
                    .timed(
                        filled.kind.name,
                        .peer,
                        length: length,
                        most: most,
                        try SetRow.setting(.integer, names) { try filled.peer.set($0, for: $1) }
                    )
                } + [bareSet(file, length, most)]
        )

        var number = 0
        try table.add(
            batch,
            bench.effort,
            [
                .timed(Ours.file, .ours, length: length, most: most) { count in
                    for _ in 0..<count {
                        number += 1
                        try store.transaction { transaction in
                            for name in names { transaction[name] = .integer(Int64(number)) }
                        }
                    }
                }
            ]
                + peers.map { filled in
                    .timed(filled.kind.name, .peer, length: length, most: most) { count in
                        for _ in 0..<count {
                            number += 1
                            try filled.peer.set(names.map { ($0, .integer(number)) })
                        }
                    }
                } + [bareSet(long, length, most)]
        )
        return Outcome(tables: [table], aims: aims(table))
    }

    private static func bareSet(_ file: BareFile, _ length: Double, _ most: Int) -> Contender {
        .timed(bare, .limit, length: length, most: most) { count in
            for _ in 0..<count {
                try file.append()
                try file.sync()
            }
        }
    }

    private static func aims(_ table: Table) -> [Aim?] {
        [
            table.aim("set, durable", "≤ 1.5× write + fdatasync", Ours.file, comparedTo: bare, one, .atMost(1.5)),
            table.aim(
                "batch of 100, durable",
                "≤ 1.25× one write + fdatasync: one sync for all",
                Ours.file,
                comparedTo: bare,
                batch,
                .atMost(1.25)
            ),
            isFaster(table, than: .sqliteFull),
            isFaster(table, than: .lmdbSynced),
        ]
    }

    private static func isFaster(_ table: Table, than peer: PeerKind) -> Aim? {
        table.aim(
            "batch of 100, durable",
            "faster than \(peer.product)",
            Ours.file,
            comparedTo: peer.name,
            batch,
            .atLeast(1)
        )
    }
}
