import Measuring
import Preferences

/// Sets of some names in turn, in memory and in a way that survives the death of the process.
enum SetRow {
    private static let memoryPeers = [PeerKind.userDefaultsUnsaved, .dconfQueued]
    private static let filePeers = [PeerKind.userDefaults, .sqlite, .lmdb, .mmkv, .mmkvShared, .dconf, .json]

    /// The least that a set in a shared file requires, in a folder that is watched as the store's is.
    private static let bareSet = "flock, statx, write, lseek, unlock, watched"

    static func measure(_ bench: Bench) throws -> Outcome {
        let note = "16 names of those that are stored, set in turn."
        let fileNote = note + " MMKV changes memory that is mapped from its file, which isn't text."
        var memory = Table("Set that stays in memory", note: note + " The peers lose their sets if the process dies.")
        var file = Table("Set that survives kill -9", note: fileNote)
        for count in bench.sizes {
            try add(title(count), bench, .integer, Samples(count: count), &memory, &file)
        }
        let kinds = Kind.allCases.filter { $0 != .integer }
        for kind in kinds { try add(kind.rawValue, bench, kind, Samples(count: 1000), &memory, &file) }
        return Outcome(tables: [memory, file], aims: aims(file))
    }

    static func title(_ count: Int) -> String { "Int, \(Unit.count.text(Double(count))) names" }

    private static func add(
        _ column: String,
        _ bench: Bench,
        _ kind: Kind,
        _ samples: Samples,
        _ memory: inout Table,
        _ file: inout Table
    ) throws {
        let names = samples.names(kind, most: Turn.names)
        let length = bench.effort.length
        let dictionary = try MutexDictionary(samples)
        var contenders = [
            Contender.timed(Ours.memory, .ours, length: length, Ours.setting(kind, names, Ours.inMemory(samples)))
        ]
        contenders += try peers(memoryPeers, bench, kind, samples)
        contenders.append(.timed(GetRow.dictionary, .limit, length: length, try setting(kind, names, dictionary.set)))
        try memory.add(column, bench.effort(part: 2), contenders)

        let (folder, unwatched, watched) = try (bench.place.folder(), bench.place.folder(), bench.place.folder())
        let watch = try WatchedFolder(watched)
        defer { withExtendedLifetime(watch) {} }
        let line = "{\"\(names[0])\":1234}\n"
        let bare = try BareFile(unwatched + "/bare", line: line)
        let locked = try BareFile(unwatched + "/locked", line: line)
        let shared = try BareFile(watched + "/shared", line: line)
        contenders = [
            .timed(Ours.file, .ours, length: length, Ours.setting(kind, names, try Ours.inFile(folder, samples)))
        ]
        contenders += try peers(filePeers, bench, kind, samples)
        contenders += try peers([.userDefaultsUnsaved], bench, kind, samples, as: .aside)
        contenders += [
            .timed(bareSet, .limit, length: length) { for _ in 0..<$0 { try shared.set() } },
            .timed("flock, write, unlock", .limit, length: length) { for _ in 0..<$0 { try locked.appendUnderLock() } },
            .timed("one write", .limit, length: length) { for _ in 0..<$0 { try bare.append() } },
            .timed("flock, unlock", .limit, length: length) { for _ in 0..<$0 { try locked.lockOnly() } },
        ]
        try file.add(column, bench.effort(part: 2), contenders)
    }

    private static func peers(
        _ kinds: [PeerKind],
        _ bench: Bench,
        _ kind: Kind,
        _ samples: Samples,
        as role: Contender.Kind = .peer
    ) throws -> [Contender] {
        try bench.filled(kinds, samples).map { filled in
            let names = samples.names(kind, most: Turn.names)
            let set = try setting(kind, names) { try filled.peer.set($0, for: $1) }
            return .timed(filled.kind.name, role, length: bench.effort.length, set)
        }
    }

    /// Sets as `Ours.setting` does; encodes a record at each set, as programs do.
    static func setting(_ kind: Kind, _ names: [String], _ set: @escaping (Stored, String) throws -> Void) throws
        -> (Int) throws -> Void
    {
        var turn = Turn(names.count)
        let values = try Turn.values.map { try Samples.value(kind, $0) }
        return { count in
            for _ in 0..<count {
                let (name, value) = turn.next()
                try set(
                    kind == .record ? Samples.value(kind, Turn.values.lowerBound + value) : values[value],
                    names[name]
                )
            }
        }
    }

    private static func aims(_ file: Table) -> [Aim?] {
        let thousand = title(1000)
        func isFaster(_ text: String, than peer: PeerKind, _ factor: Double) -> Aim? {
            file.aim("set in a file", text, Ours.file, comparedTo: peer.name, thousand, .atLeast(factor))
        }
        return [
            isFaster("≥ 3× faster than UserDefaults' unsaved set", than: .userDefaultsUnsaved, 3),
            isFaster("≥ 500× faster than UserDefaults' saved set", than: .userDefaults, 500),
            isFaster("not slower than LMDB without syncs", than: .lmdb, 1),
            file.aim(
                "set in a file",
                "≤ 1.6× the bare system calls in a watched folder",
                Ours.file,
                comparedTo: bareSet,
                thousand,
                .atMost(1.6)
            ),
        ]
    }
}
