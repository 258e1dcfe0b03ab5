import Measuring
import Preferences

/// Repeated reads of one of 1,000 names.
enum GetRow {
    static let dictionary = "Mutex dictionary"
    static let pair = "Mutex pair"
    private static let userDefaults = "UserDefaults"
    private static let absent = "not set"

    static func measure(_ bench: Bench) throws -> Outcome {
        let samples = Samples(count: 1000)
        let memory = Ours.inMemory(samples)
        let file = try Ours.inFile(try bench.place.folder(), samples)
        let peers = try bench.filled(
            [.userDefaultsUnsaved, .sqlite, .lmdb, .mmkv, .mmkvShared, .dconfQueued],
            samples
        )
        let limits = Limits(dictionary: try MutexDictionary(samples))

        var table = Table("Get", note: "One value of 1,000, read again and again, on one thread.")
        for kind in Kind.allCases {
            let name = samples.names(kind, most: 1)[0]
            try table.add(
                kind.rawValue,
                bench.shortEffort,
                contenders(bench, kind, name, [memory, file], peers, limits)
            )
        }
        try table.add(
            absent,
            bench.shortEffort,
            contenders(bench, .integer, Samples.unset, [memory, file], peers, limits)
        )
        return Outcome(tables: [table], aims: aims(table))
    }

    private struct Limits {
        let dictionary: MutexDictionary
        let pair = MutexPair()
        let atomic = AtomicNumber()
    }

    private static func contenders(
        _ bench: Bench,
        _ kind: Kind,
        _ name: String,
        _ stores: [PreferenceStore],
        _ peers: [FilledPeer],
        _ limits: Limits
    ) -> [Contender] {
        let length = bench.shortEffort.length
        let ours = zip([Ours.memory, Ours.file], stores).map { title, store in
            Contender.timed(title, .ours, length: length, Ours.reading(kind, name, store))
        }
        let others = peers.map { filled in
            Contender.timed(filled.kind.product, .peer, length: length) { count in
                if kind == .record {
                    for _ in 0..<count { keep(try filled.peer.profile(name)) }
                } else {
                    for _ in 0..<count { keep(try filled.peer.value(of: name, as: kind)) }
                }
            }
        }
        return ours + others + [
            .timed(dictionary, .limit, length: length) { count in
                for _ in 0..<count { keep(limits.dictionary.value(name)) }
            },
            .timed(pair, .limit, length: length) { count in
                for _ in 0..<count { limits.pair.use() }
            },
            .timed("atomic load", .limit, length: length) { count in
                for _ in 0..<count { keep(limits.atomic.load()) }
            },
        ]
    }

    private static func aims(_ table: Table) -> [Aim?] {
        let columns = [Kind.boolean.rawValue, Kind.integer.rawValue, Kind.text.rawValue, absent]
        return columns.flatMap { column in
            [
                table.aim(
                    "get, \(column)",
                    "≤ 1.8× a mutex pair",
                    Ours.memory,
                    comparedTo: pair,
                    column,
                    .atMost(1.8)
                ),
                table.aim(
                    "get, \(column)",
                    "≥ 40× faster than UserDefaults",
                    Ours.memory,
                    comparedTo: userDefaults,
                    column,
                    .atLeast(40)
                ),
                table.aim(
                    "get, \(column)",
                    "faster than a mutex dictionary",
                    Ours.memory,
                    comparedTo: dictionary,
                    column,
                    .atMost(1)
                ),
            ]
        }
    }
}
