import Foundation
import Measuring
import Preferences

/// Two processes that set different names of one store at the same time.
enum WritersRow {
    private static let bare = "flock, write, unlock"
    private static let title = "2 processes"
    private static let kinds = [PeerKind.sqlite, .lmdb, .mmkvShared, .userDefaults, .json]
    private static let namesEach = 100

    static func measure(_ bench: Bench) throws -> Outcome {
        let samples = Samples(count: 1000)
        let folder = try bench.place.folder()
        _ = try Ours.inFile(folder, samples)
        let peers = try bench.filled(kinds, samples)
        let duration = bench.effort.length * 40

        var lost: [(name: String, kind: Contender.Kind, value: Double)] = []
        func contender(_ what: String, _ kind: Contender.Kind, _ folder: String) -> Contender {
            lost.append((what, kind, 0))
            let index = lost.count - 1
            return Contender(what, kind) {
                let (rate, missing) = try race(what, folder, samples, duration)
                lost[index].value += Double(missing)
                return rate
            }
        }
        var contenders = [contender(Ours.file, .ours, folder)]
        contenders += peers.map { contender($0.kind.name, .peer, $0.folder) }
        contenders.append(contender(bare, .limit, folder))

        var rates = Table(
            "Two writers",
            unit: .rate,
            note: "Sets of both together, each process 100 Int of 1,000 names, at once."
        )
        try rates.add(title, bench.effort(part: 3), contenders)
        var losses = Table(
            "Two writers: what is lost",
            unit: .count,
            note: "Names whose last value isn't found afterwards, of 200 in each round, all rounds together."
        )
        losses.add(title, lost.filter { $0.kind != .limit })
        return Outcome(
            tables: [rates, losses],
            aims: [
                rates.aim(
                    "two writers",
                    "faster than LMDB without syncs",
                    Ours.file,
                    comparedTo: PeerKind.lmdb.name,
                    title,
                    .atLeast(1)
                )
            ]
        )
    }

    private static func names(_ samples: Samples, _ writer: Int) -> [String] {
        let all = samples.names(.integer)
        return Array(all[(writer * namesEach)..<((writer + 1) * namesEach)])
    }

    /// Returns the number of sets per second, and the number of names that don't hold the value to which they were last
    /// set.
    private static func race(_ what: String, _ folder: String, _ samples: Samples, _ duration: Double) throws
        -> (rate: Double, lost: Int)
    {
        let writers = try (0..<2).map { try Child(role: role.name, what, folder, "\($0)", "\(duration)") }
        for writer in writers { _ = try writer.readLine() }
        for writer in writers { try writer.send("go") }
        var (rate, counts) = (0.0, [Int]())
        for writer in writers {
            let numbers = try writer.readNumbers()
            counts.append(Int(numbers[0]))
            rate += numbers[0] / numbers[1]
        }
        guard what != bare else { return (rate, 0) }
        // In another process, as this one might hold what it read before.
        let found = try Child(role: finding.name, what, folder).readNumbers().map { Int($0) }
        var lost = 0
        for (writer, count) in counts.enumerated() {
            for index in 0..<min(count, namesEach) {
                // The last number up to the count that was set under this name.
                let expected = count - 1 - (count - 1 - index) % namesEach
                if found[writer * namesEach + index] != expected { lost += 1 }
            }
        }
        return (rate, lost)
    }

    /// Writes the values of all names.
    static let finding = Role(name: "find") { arguments in
        let (what, folder) = (arguments[0], arguments[1])
        let names = (0..<2).flatMap { Self.names(Samples(count: 1000), $0) }
        let numbers: [Int]
        if what == Ours.file {
            let store = try PreferenceStore.file(at: Ours.url(folder))
            numbers = names.map { Preference($0, default: -1, in: store).value }
        } else {
            let peer = try PeerKind.named(what).open(folder)
            numbers = try names.map { name in
                guard case .integer(let number) = try peer.value(of: name, as: .integer) else { return -1 }
                return number
            }
        }
        writeLine(numbers.map(String.init).joined(separator: " "))
    }

    /// Sets for some time, and writes how often and how long.
    static let role = Role(name: "write") { arguments in
        let (what, folder, writer, duration) = (arguments[0], arguments[1], Int(arguments[2]), Double(arguments[3]))
        guard let writer, let duration else { throw Failure("write what folder number seconds") }
        let names = Self.names(Samples(count: 1000), writer)
        let set = try setter(what, folder, names)
        writeLine("ready")
        _ = readLine()
        var count = 0
        let time = try seconds {
            let end = now() + Int(duration * 1e9)
            while now() < end {
                try set(count)
                count += 1
            }
        }
        writeLine("\(count) \(time)")
    }

    /// Returns a function that sets a number under the name whose turn it is.
    private static func setter(_ what: String, _ folder: String, _ names: [String]) throws -> (Int) throws -> Void {
        switch what {
        case Ours.file:
            let store = try PreferenceStore.file(at: Ours.url(folder))
            let preferences = names.map { Preference($0, default: -1, in: store) }
            return { preferences[$0 % preferences.count].value = $0 }
        case bare:
            let file = try BareFile(folder + "/bare", line: "{\"\(names[0])\":1234}\n")
            return { _ in try file.appendUnderLock() }
        default:
            let peer = try PeerKind.named(what).open(folder)
            return { try peer.set(.integer($0), for: names[$0 % names.count]) }
        }
    }
}
