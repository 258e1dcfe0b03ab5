#if canImport(Glibc) && DEBUG
import FoundationEssentials
import Glibc
import Preferences

/// Stores that are opened, used and released leave no descriptors, threads or memory behind.
enum Leak {
    private struct Usage {
        var descriptors: Int
        var threads: Int
        var kilobytes: Int

        init() throws {
            // One descriptor is the folder that is being read.
            descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count - 1
            // The library's threads, by their name: the number that the runtime keeps for tasks doesn't matter here.
            threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { thread in
                FileManager.default.contents(atPath: "/proc/self/task/\(thread)/comm") == Data("preferences\n".utf8)
            }
            let status = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/status")), as: UTF8.self)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS") }
            kilobytes = line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
        }

        /// Returns the usage once ending threads have ended: when neither threads nor descriptors have changed for a
        /// second.
        static func whenStable() throws -> Usage {
            var usage = try Usage()
            var steady = 0
            for _ in 0..<3_000 where steady < 50 {
                pause(microseconds: 20_000)
                let next = try Usage()
                steady = next.threads == usage.threads && next.descriptors == usage.descriptors ? steady + 1 : 0
                usage = next
            }
            return usage
        }
    }

    static func run(_ count: Int, _ report: inout Report) async throws {
        let place = try Place()
        // After some rounds there is everything that is allocated once for the process, and that the allocator keeps.
        for round in 0..<200 { try await use(place, round) }
        let before = try Usage.whenStable()
        for round in 0..<count { try await use(place, round) }
        let after = try Usage.whenStable()
        let growth = after.kilobytes - before.kilobytes
        report.expect(
            after.descriptors == before.descriptors,
            "\(before.descriptors) descriptors became \(after.descriptors)"
        )
        // Less than a page per round.
        report.expect(growth < max(1024, 4 * count / 2), "\(growth) KB of memory more")
        let most = try together(place)
        // Those of the pool, which stay, and the watcher's; other experiments of this process have watchers of their own.
        report.expect(most <= max(17, before.threads), "100 stores at once have \(most) threads")
        report.note("100 stores at once, each set and observed: threads of the library \(most)")
        report.note(
            "\(count) stores opened, set, observed, flushed and released: descriptors \(before.descriptors) → "
                + "\(after.descriptors), threads of the library \(before.threads) → \(after.threads), memory "
                + "\(before.kilobytes) → \(after.kilobytes) KB (\(growth * 1024 / count) bytes each)"
        )
    }

    /// Returns the most threads that 100 stores have while they sync.
    private static func together(_ place: Place) throws -> Int {
        var most = 0
        let stores = try (0..<100).map { number in
            let store = try PreferenceStore.file(at: "\(place.path)/together-\(number).jsonl")
            let preference = Preference("number", default: 0, in: store)
            let observation = preference.observe { _ in }
            try preference.write(1)
            most = max(most, try Usage().threads)
            return (store, observation)
        }
        for _ in 0..<50 {
            pause(microseconds: 4_000)
            most = max(most, try Usage().threads)
        }
        for (_, observation) in stores { observation.cancel() }
        return most
    }

    /// Opens, uses and releases a store, in every second round in a different folder: with one folder, memory that is
    /// kept for each path wouldn't show.
    private static func use(_ place: Place, _ round: Int) async throws {
        let folder = round.isMultiple(of: 2) ? "config" : "config-\(round)"
        let store = try PreferenceStore.file(at: "\(place.path)/\(folder)/preferences.jsonl")
        let preference = Preference("number", default: 0, in: store)
        let observation = preference.observe { _ in }
        try await preference.write(preference.value + 1)
        try await store.flush()
        observation.cancel()
    }
}
#endif
