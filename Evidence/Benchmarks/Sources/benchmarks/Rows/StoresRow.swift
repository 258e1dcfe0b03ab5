import Foundation
import Measuring
import Preferences

/// A process that uses many stores at the same time.
enum StoresRow {
    private static let count = 100
    private static let bare = "the bare system calls"
    private static let opening = "open all"
    private static let setting = "set once in each"
    private static let threads = "after a set in each"

    static func measure(_ bench: Bench) throws -> Outcome {
        let folder = try bench.place.folder()
        let samples = Samples(count: 100)
        _ = try Ours.inFile(folder, samples)
        let name = samples.names(.integer, most: 1)[0]
        for number in 0..<count { try FileManager.default.copyItem(at: Ours.url(folder), to: url(folder, number)) }

        var times = Table("100 stores in a process", note: "Each of 100 names, in a fresh process.")
        func add(_ column: String, _ index: Int) throws {
            let contenders = [(Ours.file, Contender.Kind.ours), (bare, .limit)].map { what, kind in
                Contender(what, kind) { try Child(role: role.name, what, folder, name, "0").readNumbers()[index] }
            }
            try times.add(column, bench.effort(part: 2), contenders)
        }
        try add(opening, 0)
        try add(setting, 1)

        var threads = Table("100 stores: threads", unit: .count, note: "Of the process, its own among them.")
        let waiting = 3
        let found = try Child(role: role.name, Ours.file, folder, name, "\(waiting)").readNumbers()
        threads.add(Self.threads, [(Ours.file, .ours, found[2])])
        threads.add("\(waiting) s later", [(Ours.file, .ours, found[3])])
        return Outcome(
            tables: [times, threads],
            aims: [threads.aim("threads of 100 stores", "≤ 3", Ours.file, Self.threads, atMost: 3)]
        )
    }

    private static func url(_ folder: String, _ number: Int) -> URL {
        URL(filePath: folder).appending(path: "\(number).jsonl")
    }

    /// Opens all stores and sets in each; writes the two times, and the number of threads then and some seconds later.
    static let role = Role(name: "stores") { arguments in
        let (what, folder, name, rest) = (arguments[0], arguments[1], arguments[2], UInt32(arguments[3]) ?? 0)
        let urls = (0..<count).map { url(folder, $0) }
        var sets: [() throws -> Void] = []
        let opening: Double
        if what == bare {
            opening = try seconds {
                sets = try urls.map { url in
                    keep(try BareFile.read(url.path))
                    let file = try BareFile(url.path, line: "{\"\(name)\":1234}\n")
                    return { try file.set() }
                }
            }
        } else {
            let value = now()
            opening = try seconds {
                sets = try urls.map { url in
                    let preference = Preference(name, default: 0, in: try .file(at: url))
                    return { preference.value = value }
                }
            }
        }
        let setting = try seconds { for set in sets { try set() } }
        let threads = try threadCount()
        sleep(rest)
        writeLine("\(opening) \(setting) \(threads) \(try threadCount())")
        keep(sets.count)
    }

    private static func threadCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
}
