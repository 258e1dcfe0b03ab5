#if canImport(Glibc)
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
        for round in 0..<200 { try await use(place, round) {} }
        let before = try Usage.whenStable()
        for round in 0..<count { try await use(place, round) {} }
        let after = try Usage.whenStable()
        let growth = after.kilobytes - before.kilobytes
        let open = try await use(place, count) { try Usage() }
        report.expect(
            after.descriptors == before.descriptors,
            "\(before.descriptors) descriptors became \(after.descriptors)"
        )
        report.expect(
            after.threads == before.threads,
            "\(before.threads) threads of the library became \(after.threads)"
        )
        report.expect(open.threads > after.threads, "the threads of an open store are not seen")
        // Less than a page per round.
        report.expect(growth < max(1024, 4 * count / 2), "\(growth) KB of memory more")
        let (most, idle) = try together(place)
        report.expect(most <= 10, "100 stores at once have \(most) threads")
        report.expect(idle == 1, "100 idle stores have \(idle) threads, not only the watcher's")
        report.note("100 stores at once, each set and observed: threads of the library \(most), idle \(idle)")
        report.note(
            "\(count) stores opened, set, observed, flushed and released: descriptors \(before.descriptors) → "
                + "\(after.descriptors), threads of the library \(before.threads) → \(after.threads) "
                + "(\(open.threads) with a store), memory "
                + "\(before.kilobytes) → \(after.kilobytes) KB (\(growth * 1024 / count) bytes each)"
        )
    }

    /// Returns the most threads that 100 stores have while they sync, and the number that stays.
    private static func together(_ place: Place) throws -> (most: Int, idle: Int) {
        var most = 0
        let stores = try (0..<100).map { number in
            let store = try PreferenceStore.file(at: URL(filePath: "\(place.path)/together-\(number).jsonl"))
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
        let idle = try Usage.whenStable().threads
        for (_, observation) in stores { observation.cancel() }
        return (most, idle)
    }

    /// Opens, uses and releases a store, in every second round in a different folder: with one folder, memory that is
    /// kept for each path wouldn't show.
    private static func use<Result>(_ place: Place, _ round: Int, _ body: () throws -> Result) async throws -> Result {
        let folder = round.isMultiple(of: 2) ? "config" : "config-\(round)"
        let store = try PreferenceStore.file(at: URL(filePath: "\(place.path)/\(folder)/preferences.jsonl"))
        let preference = Preference("number", default: 0, in: store)
        let observation = preference.observe { _ in }
        try await preference.write(preference.value + 1)
        try await store.flush()
        let result = try body()
        observation.cancel()
        return result
    }
}
#endif
