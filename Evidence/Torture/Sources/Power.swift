#if canImport(Glibc) && DEBUG
import Glibc
import Preferences

/// A real file system loses its power: while a process sets and flushes, it is shut down by the ioctl that the file
/// system's own tests use, and mounted again.
enum Power {
    private static let systems = [
        (name: "ext4", make: "mkfs.ext4 -q -F", size: "64M"), (name: "xfs", make: "mkfs.xfs -q -f", size: "320M"),
    ]

    static func work(_ path: String, after start: Int) async {
        let open = OpenStore(path)
        var number = start
        do {
            while true {
                for _ in 0..<3 {
                    number += 1
                    try open.set(.integer(Int64(number)), for: "number")
                    try open.set(.integer(Int64(number)), for: "name.\(number % 50)")
                    writeLine("set \(number) \(now())", to: 1)
                }
                try await open.store.flush()
                writeLine("flushed \(number) \(now())", to: 1)
                if Int.random(in: 0..<10) == 0 { try open.compact() }
            }
        } catch {
            // Expected once the power is gone.
            writeLine("failed \(number) \(now())", to: 1)
        }
    }

    static func run(_ rounds: Int, _ report: inout Report) async throws {
        for system in systems {
            do {
                let place = try Place()
                guard geteuid() == 0 else { throw Obstacle("only root may mount") }
                try Child.command("truncate -s \(system.size) \(place.path)/image; \(system.make) \(place.path)/image")
                try Child.command("mkdir \(place.path)/mount; mount -o loop \(place.path)/image \(place.path)/mount")
                try Child.command("umount \(place.path)/mount")
                try run(rounds, system.name, place, &report)
            } catch let obstacle as Obstacle {
                report.skip("\(system.name): \(obstacle)")
            }
        }
    }

    private static func run(_ rounds: Int, _ name: String, _ place: Place, _ report: inout Report) throws {
        let mount = place.path + "/mount"
        var before: [String: Int] = [:]
        var (last, flushCount, unflushed, lost) = (0, 0, 0, 0)
        for round in 0..<rounds {
            // A new folder and file in some rounds, as they have to survive too.
            let path = "\(mount)/\(round / 4)/config/preferences.jsonl"
            if round.isMultiple(of: 4) { (last, before) = (0, [:]) }
            try Child.command("mount -o loop \(place.path)/image \(mount)")
            defer { do { try Child.command("mountpoint -q \(mount) && umount \(mount)") } catch {} }
            let worker = try Child.worker("power", path, "\(last)")
            var lines = [worker.readLine()].compactMap(\.self)
            pause(microseconds: .random(in: 0..<100_000))
            let cutTime = now()
            try cut(mount)
            pause(microseconds: 2000)
            worker.kill()
            lines += worker.readLines()
            worker.wait()
            try Child.command("umount \(mount)")

            try Child.command("mount -o loop \(place.path)/image \(mount)")
            let events = lines.map { $0.split(separator: " ") }.compactMap { parts -> (String, Int, Int)? in
                guard parts.count == 3, let number = Int(parts[1]), let time = Int(parts[2]) else { return nil }
                return (String(parts[0]), number, time)
            }
            // In reality, no process continues without power. Here it runs on for a moment, and its output from then on
            // doesn't count.
            let flushes = events.filter { $0.0 == "flushed" && $0.2 < cutTime }
            report.expect(
                !events.contains { $0.0 == "failed" && $0.2 < cutTime },
                "round \(round): failed before the cut"
            )
            let flushed = flushes.last?.1 ?? before["number"] ?? 0
            let set = events.last { $0.0 == "set" }?.1 ?? last
            let values = try read(path, round, &report)
            let found = values["number"] ?? 0
            report.expect(
                found >= flushed && found <= set + 1,
                "round \(round): number is \(found), of \(flushed) flushed and \(set) set"
            )
            for index in 0..<50 {
                let name = "name.\(index)"
                // The newest flushed number of that name, if it was set since the file was opened.
                let newest = flushed - (flushed - index + 50) % 50
                let least = max(newest > last ? newest : 0, before[name] ?? 0)
                let number = values[name] ?? 0
                report.expect(
                    number >= least && number <= set + 1,
                    "round \(round): \(name) is \(number), not \(least)"
                )
            }
            flushCount += flushes.count
            unflushed += set > flushed ? 1 : 0
            lost += found < set ? 1 : 0
            // Lost values must not count as set in the next round.
            (last, before) = (set + 2, values)
            try Child.command("umount \(mount)")
            if !report.failures.isEmpty { break }
        }
        report.note(
            "\(name): \(rounds) power cuts, \(flushCount) flushes returned and none of them lost; of \(unflushed) cuts with "
                + "newer sets \(lost) took some of them"
        )
    }

    private static func read(_ path: String, _ round: Int, _ report: inout Report) throws -> [String: Int] {
        let open = OpenStore(path)
        report.expect(open.problems.isEmpty, "round \(round): \(open.problems)")
        return open.store.contents.compactMapValues { if case .integer(let number) = $0 { Int(number) } else { nil } }
    }

    /// Ends all writes to the file system at once, without writing its journal (EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN).
    private static func cut(_ mount: String) throws {
        let descriptor = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        var flags: UInt32 = 2
        let request: UInt = 2 << 30 | 4 << 16 | 88 << 8 | 125
        guard descriptor >= 0, ioctl(descriptor, request, &flags) == 0 else {
            throw Obstacle("the shutdown ioctl is refused: \(String(cString: strerror(errno)))")
        }
    }
}
#endif
