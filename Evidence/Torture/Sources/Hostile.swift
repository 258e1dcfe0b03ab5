#if canImport(Glibc) && DEBUG
import Glibc

@testable import Preferences

/// Environments that only a real system has; the other hostile files are in unit tests.
enum Hostile {
    static func run(_ count: Int, _ report: inout Report) async throws {
        for _ in 0..<count {
            try overflow(&report)
            try clockSetBack(&report)
            try fullDisk(&report)
        }
    }

    /// More events than the kernel keeps, while the watcher is prevented from reading them.
    private static func overflow(_ report: inout Report) throws {
        let place = try Place()
        let other = OpenStore(place.file)
        try other.set(0, for: "a")
        let watcher = Watcher(.system)
        let open = OpenStore(place.file, watcher: watcher)
        let (first, seen) = (Arrival(open.store, "a"), Arrival(open.store, "b"))
        try other.set(1, for: "a")
        report.expect(first.comes(1, within: 60), "a set isn't seen")
        let (gate, blocked) = (Gate(), Gate())
        let file = Watcher.Place(path: place.path + "/config", name: "preferences.jsonl", interest: .contents)
        let blocking = try watcher.watch([file]) { _ in
            blocked.open()
            gate.wait()
        }
        try other.set(2, for: "a")
        blocked.wait()
        let most = try kernelNumber("/proc/sys/fs/inotify/max_queued_events")
        for index in 0..<(most / 2 + 100) {
            let path = "\(place.path)/config/\(index)"
            close(Glibc.open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
            unlink(path)
        }
        try other.set(1, for: "b")
        gate.open()
        report.expect(seen.comes(1, within: 60), "a set isn't seen after the event queue has overflown")
        withExtendedLifetime(blocking) {}
        report.note("event queue of \(most) overflown: the set after that is seen")
    }

    private static func kernelNumber(_ path: String) throws -> Int {
        let child = try Child.shell("cat \(path)")
        guard let number = child.readLine().flatMap({ Int($0) }) else { throw Obstacle("\(path) can't be read") }
        return number
    }

    /// File times run backwards while the file is polled; no code reads the time of day.
    private static func clockSetBack(_ report: inout Report) throws {
        let place = try Place()
        let (open, other) = (OpenStore(place.file), OpenStore(place.file))
        let seen = Arrival(open.store, "a")
        for number in 1...3 {
            try other.set(.integer(Int64(number)), for: "a")
            try other.compact()
            var times = [
                timespec(tv_sec: 1_000_000 - number, tv_nsec: 0), timespec(tv_sec: 1_000_000 - number, tv_nsec: 0),
            ]
            utimensat(AT_FDCWD, place.file, &times, 0)
            report.expect(seen.comes(number, within: 60), "set \(number) isn't seen when the clock goes back")
            try open.set(.integer(Int64(number)), for: "b")
        }
        report.expect(
            try LineReader<Int>(place.file).values == ["a": 3, "b": 3],
            "values differ when the clock goes back"
        )
        report.note("clock set back with each of 3 sets and compactions: seen and stored")
    }

    /// A disk without a byte or an inode left: an error, no loss, and success again once there is room.
    private static func fullDisk(_ report: inout Report) throws {
        guard geteuid() == 0 else { return report.skip("full disk: only root may mount a tmpfs") }
        for (what, options) in [("byte", "size=64k"), ("inode", "nr_inodes=6")] {
            let place = try Place()
            let disk = place.path + "/disk"
            do {
                try Child.command("mkdir \(disk); mount -t tmpfs -o \(options) tmpfs \(disk)")
            } catch let obstacle as Obstacle {
                report.skip("full disk: \(obstacle)")
                return
            }
            defer { do { try Child.command("umount -l \(disk)") } catch { print("\(error)") } }
            try fill(disk, what, &report)
        }
    }

    private static func fill(_ disk: String, _ what: String, _ report: inout Report) throws {
        let path = disk + "/config/preferences.jsonl"
        let open = OpenStore(path)
        try open.set(1, for: "a")
        if what == "byte" {
            try Child.command("cat /dev/zero 2>/dev/null > \(disk)/filler; true")
        } else {
            try Child.command("for i in 1 2 3 4 5 6 7 8; do touch \(disk)/filler.$i 2>/dev/null; done; true")
        }
        var (stored, refused): ([String: Int], Int) = (["a": 1], 0)
        for number in 0..<200 {
            do {
                try open.set(.integer(Int64(number)), for: "name.\(number)")
                stored["name.\(number)"] = number
            } catch { refused += 1 }
            if try !open.compact() { refused += 1 }
            guard number.isMultiple(of: 20) else { continue }
            report.expect(
                try LineReader<Int>(path).values == stored,
                "no \(what) left: the file differs from what was stored"
            )
        }
        let names = Set(stored.keys)
        report.expect(Set(open.store.names) == names, "no \(what) left: memory differs from what was stored")
        report.expect(refused > 0, "no \(what) left, and nothing was refused")
        try Child.command("rm \(disk)/filler*")
        try open.set(2, for: "a")
        report.expect(try open.compact(), "with room again the file can't be compacted")
        stored["a"] = 2
        report.expect(
            try LineReader<Int>(path).values == stored,
            "with room again the file differs from what was stored"
        )
        report.note(
            "no \(what) left: \(refused) of 400 sets and compactions refused, nothing lost, and none refused with room again"
        )
    }
}

/// Waits until a name has a value.
private final class Arrival: Sendable {
    private let value: Lock<Int> = Lock(-1)
    private let observation = Lock<PreferenceObservation?>(nil)

    init(_ store: PreferenceStore, _ name: String) {
        let running = Preference(name, default: -1, in: store).observe { [weak self] change in
            self?.value.withLock { $0 = change.new }
        }
        observation.withLock { $0 = running }
    }

    func comes(_ number: Int, within seconds: Int) -> Bool {
        for _ in 0..<(seconds * 200) {
            if value.withLock({ $0 }) == number { return true }
            pause(microseconds: 5000)
        }
        return false
    }
}

/// A gate that blocks threads until it is opened.
private final class Gate: Sendable {
    private let isOpen = Lock(false)
    func open() { isOpen.withLock { $0 = true } }
    func wait() { while !isOpen.withLock({ $0 }) { pause(microseconds: 1000) } }
}
#endif
