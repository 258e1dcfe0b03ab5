import Foundation
import Measuring
import Preferences

/// The memory per name of a process that has opened the store and read the name.
enum MemoryRow {
    private static let overhead = "Preference, without the names and values"
    private static let declared = "Preference, each declared and read"
    private static let dictionary = "Swift dictionary"
    private static let title = "for each name, an Int"
    private static let kinds = [PeerKind.userDefaults, .sqlite, .lmdb, .mmkvShared, .keyFile, .json, .propertyList]

    static func measure(_ bench: Bench) throws -> Outcome {
        let (few, many) = (Samples(count: 100, kinds: [.integer]), Samples(count: 10_000, kinds: [.integer]))
        let own = try [few, many].map { samples in
            let folder = try bench.place.folder()
            _ = try Ours.inFile(folder, samples)
            return folder
        }
        let peers = try kinds.compactMap { kind in
            try bench.filled(kind, few).map { ($0, try bench.filled(kind, many)) }
        }
        func contender(_ what: String, _ kind: Contender.Kind, _ fewer: String, _ more: String) -> Contender {
            Contender(what, kind) {
                let small = try Child(role: role.name, what, fewer, "\(few.count)").readNumber()
                let large = try Child(role: role.name, what, more, "\(many.count)").readNumber()
                return (large - small) / Double(many.count - few.count)
            }
        }
        var contenders = [
            contender(Ours.file, .ours, own[0], own[1]), contender(declared, .aside, own[0], own[1]),
        ]
        contenders += peers.map { contender($0.kind.name, .peer, $0.folder, $1?.folder ?? $0.folder) }
        contenders.append(contender(dictionary, .limit, "", ""))
        var table = Table(
            "Memory per name",
            unit: .bytes,
            note: "The additional private memory of the process, not of a file, with 10,000 names instead of 100. "
                + "SQLite, LMDB and MMKV leave the values in their files."
        )
        let medians = try bench.effort(part: 3).medians(of: contenders)
        var figures = zip(contenders, medians).map { (name: $0.name, kind: $0.kind, value: $1) }
        // As in a file: the name and the digits.
        let bytes = many.names(.integer).enumerated().reduce(0) { $0 + $1.element.utf8.count + String($1.offset).count }
        figures.insert((overhead, .aside, medians[0] - Double(bytes) / Double(many.count)), at: 1)
        table.add(title, figures)
        let aim = table.aim(
            "memory per name",
            "≤ 120 B in addition to the name's and the value's bytes",
            overhead,
            title,
            atMost: 120
        )
        return Outcome(tables: [table], aims: [aim])
    }

    /// Opens, reads, and writes how many bytes of memory the process has for itself.
    static let role = Role(name: "memory") { arguments in
        let (what, folder, count) = (arguments[0], arguments[1], Int(arguments[2]) ?? 0)
        let samples = Samples(count: count, kinds: [.integer])
        // Only for contenders whose dictionary holds the names or whose preferences are declared: otherwise they would
        // count as the store's.
        let names = samples.names(.integer, most: what == declared || what == dictionary ? .max : 1)
        var kept: Any?
        switch what {
        case Ours.file, declared:
            let store = try PreferenceStore.file(at: Ours.url(folder))
            let preferences = names.map { Preference($0, default: 0, in: store) }
            for preference in preferences { keep(preference.value) }
            kept = (store, preferences)
        case dictionary:
            kept = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        default:
            let peer = try PeerKind.named(what).open(folder)
            keep(try peer.value(of: names[0], as: .integer))
            kept = peer
        }
        writeLine("\(try ownMemory())")
        keep(kept)
    }

    private static func ownMemory() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix("RssAnon:") {
            if let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) {
                return kilobytes << 10
            }
        }
        throw Failure("the kernel reports no memory")
    }
}
