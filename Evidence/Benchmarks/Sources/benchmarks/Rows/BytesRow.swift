import Foundation
import Measuring
import Preferences

/// The number of bytes written per set, as the kernel counts them for the process.
enum BytesRow {
    private static let json = "the name and value as JSON"
    private static let value = "the value as JSON"
    /// The contenders that append, and those that write everything at each set.
    private static let appending = [PeerKind.sqlite, .lmdb]
    private static let rewriting = [PeerKind.userDefaults, .dconf, .json]

    static func measure(_ bench: Bench) throws -> Outcome {
        var table = Table(
            "Bytes written per set",
            unit: .bytes,
            note: "1,000 names stored; with all that compaction, checkpoints and the like write in a long run."
        )
        for kind in Kind.allCases {
            let samples = Samples(count: 1000)
            let names = samples.names(kind, most: Turn.names)
            let store = try Ours.inFile(try bench.place.folder(), samples)
            // Enough sets that the log is compacted repeatedly.
            let many = Int(bench.effort.length * 5e6)
            let own = try counted(many) { Ours.setting(kind, names, store)($0) }
            var figures: [(name: String, kind: Contender.Kind, value: Double)] = [(Ours.file, .ours, own)]
            for (kinds, count) in [(appending, many), (rewriting, 10)] {
                for filled in try bench.filled(kinds, samples) {
                    let set = try SetRow.setting(kind, names) { try filled.peer.set($0, for: $1) }
                    let service = filled.kind.needsBus ? bench.place.dconfService : nil
                    figures.append((filled.kind.name, .peer, try counted(count, of: service, set)))
                }
            }
            let text = try JSONEncoder().encode(try text(kind))
            figures.append((json, .limit, Double(text.count + names[0].utf8.count + 5)))
            figures.append((value, .limit, Double(text.count)))
            table.add(kind.rawValue, figures)
        }
        let aims = Kind.allCases.map { kind in
            table.aim(
                "bytes written per set, \(kind.rawValue)",
                "≤ 2× the value's JSON",
                Ours.file,
                comparedTo: value,
                kind.rawValue,
                .atMost(2)
            )
        }
        return Outcome(tables: [table], aims: aims)
    }

    /// Returns a value as a program would write it as JSON, with data as base64.
    private static func text(_ kind: Kind) throws -> any Encodable {
        switch kind {
        case .boolean: true
        case .integer: Samples.fresh
        case .text: Samples.text(Samples.fresh)
        case .data: Samples.data(Samples.fresh)
        case .record: Samples.profile(Samples.fresh)
        }
    }

    private static func counted(_ count: Int, of process: Int? = nil, _ body: (Int) throws -> Void) throws -> Double {
        let before = try written(process)
        try body(count)
        return Double(try written(process) - before) / Double(count)
    }

    /// Returns the number of bytes that a process has passed to `write` and similar calls (proc(5), `wchar`).
    private static func written(_ process: Int?) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.map(String.init) ?? "self")/io", encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix("wchar: ") {
            if let count = Int(line.dropFirst(7)) { return count }
        }
        throw Failure("the kernel counts no writes")
    }
}
