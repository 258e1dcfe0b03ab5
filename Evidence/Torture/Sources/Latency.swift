#if canImport(Glibc)
import DurableFile
import Glibc
import Preferences

/// How soon a set of another process is seen, compared to the time that the kernel alone takes to wake a process that
/// waits for the file.
enum Latency {
    /// As many names as sets in a block, so that no set is superseded by the next one before it was seen.
    private static let names = block
    private static let block = 500
    private static let bareLength = 8

    // MARK: The process that writes

    static func work(_ path: String, bare: String) throws {
        let open = OpenStore(path)
        let descriptor = Glibc.open(bare, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        var number = 0
        while let line = readLine() {
            let isBare = line == "bare"
            var times: [Int] = []
            for _ in 0..<block {
                // The reader has to be waiting again when the next set comes, as in practice.
                pause(microseconds: .random(in: 200...800))
                times.append(now())
                if isBare {
                    _ = write(descriptor, "1234567\n", bareLength)
                } else {
                    try open.set(.integer(Int64(number)), for: "name.\(number % names)")
                    number += 1
                }
                times.append(now())
            }
            writeLine(times.map(String.init).joined(separator: " "), to: 1)
        }
    }

    // MARK: The process that observes

    /// The time at which each number was first seen.
    private final class Seen: Sendable {
        private struct State {
            var times: [Int?]
            var last: [Int]
            var disorder: [String] = []
        }
        private let state: Lock<State>

        init(_ count: Int) {
            state = Lock(State(times: Array(repeating: nil, count: count), last: Array(repeating: -1, count: names)))
        }

        func take(_ number: Int, name: Int, old: Int) {
            let time = now()
            state.withLock { state in
                let expected = state.last[name] < 0 ? name : state.last[name] + names
                if number != expected || old != state.last[name] {
                    state.disorder.append(
                        "\(old) → \(number) of name \(name) instead of \(state.last[name]) → \(expected)"
                    )
                }
                state.last[name] = number
                if state.times.indices.contains(number) { state.times[number] = time }
            }
        }

        /// Notes all numbers before `end`, as the kernel only reports a size.
        func take(upTo end: Int) {
            let time = now()
            state.withLock { state in
                for number in (0..<end).reversed() {
                    if state.times[number] != nil { break }
                    state.times[number] = time
                }
            }
        }

        var disorder: [String] { state.withLock { $0.disorder } }

        /// Returns the times of a block, after waiting for at most 10 s.
        func times(_ range: Range<Int>) -> [Int?] {
            for _ in 0..<1000 {
                let times = state.withLock { Array($0.times[range]) }
                if !times.contains(nil) { return times }
                pause(microseconds: 10_000)
            }
            return state.withLock { Array($0.times[range]) }
        }
    }

    static func run(_ count: Int, _ report: inout Report) async throws {
        let place = try Place()
        let blocks = (count + block - 1) / block
        let (bare, seen) = (Seen(blocks * block), Seen(blocks * block))
        let barePath = place.path + "/bare/file"
        mkdir(place.path + "/bare", 0o700)
        try watchBare(barePath, bare)

        // Created first, as new folders and files are noticed later than a set.
        try OpenStore(place.file, watcher: nil).set(-1, for: "made")
        let open = OpenStore(place.file)
        let observations = (0..<names).map { name in
            Preference("name.\(name)", default: -1, in: open.store).observe { change in
                seen.take(change.new, name: name, old: change.old)
            }
        }
        let writer = try Child.worker("latency", place.file, barePath)
        var (bareCalls, calls, returns, lost): ([Int], [Int], [Int], Int) = ([], [], [], 0)
        for start in stride(from: 0, to: blocks * block, by: block) {
            for isBare in [true, false] {
                writer.send(isBare ? "bare" : "store")
                guard let line = writer.readLine() else { throw Obstacle("the writer failed") }
                let times = line.split(separator: " ").compactMap { Int($0) }
                for (index, time) in (isBare ? bare : seen).times(start..<(start + block)).enumerated() {
                    guard let time else {
                        lost += 1
                        continue
                    }
                    if isBare {
                        bareCalls.append(time - times[2 * index])
                    } else {
                        calls.append(time - times[2 * index])
                        returns.append(time - times[2 * index + 1])
                    }
                }
            }
        }
        for observation in observations { observation.cancel() }
        report.expect(lost == 0, "\(lost) were never seen")
        report.expect(seen.disorder.isEmpty, "\(seen.disorder.count) out of order: \(seen.disorder.prefix(3))")
        report.expect(open.problems.isEmpty, "\(open.problems)")
        let (bare50, bare99) = quantiles(bareCalls)
        let (call50, call99) = quantiles(calls)
        let (return50, return99) = quantiles(returns)
        report.note("\(calls.count) sets of another process, each seen once, in order; \(lost) lost")
        report.note("from the return of the set to the observer: median \(return50) µs, 99 % \(return99) µs")
        report.note("from the call of the set to the observer:   median \(call50) µs, 99 % \(call99) µs")
        // Not from its return, as the kernel wakes the reader before `write` returns.
        report.note("from the call of write to a bare inotify:   median \(bare50) µs, 99 % \(bare99) µs")
        report.note(
            "ratio to it, from the return: median \(ratio(return50, bare50)), 99 % \(ratio(return99, bare99)); "
                + "from the call: median \(ratio(call50, bare50)), 99 % \(ratio(call99, bare99))"
        )
    }

    private static func quantiles(_ latencies: [Int]) -> (median: Double, slow: Double) {
        let sorted = latencies.sorted()
        let microseconds = { (index: Int) in (Double(sorted[index]) / 100).rounded() / 10 }
        return sorted.isEmpty ? (0, 0) : (microseconds(sorted.count / 2), microseconds(sorted.count * 99 / 100))
    }

    private static func ratio(_ value: Double, _ base: Double) -> String {
        base > 0 ? "\((value / base * 10).rounded() / 10) ×" : "none"
    }

    /// Waits for events in the simplest way: a thread that blocks in `read`.
    private static func watchBare(_ path: String, _ seen: Seen) throws {
        let file = Glibc.open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
        let queue = inotify_init1(Int32(IN_CLOEXEC))
        let isWatched = inotify_add_watch(queue, path, UInt32(IN_MODIFY)) >= 0
        guard file >= 0, isWatched else { throw Obstacle("inotify doesn't work here") }
        let isStarted = WorkerQueue.startThread("bare") {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while read(queue, &buffer, buffer.count) > 0 {
                var status = stat()
                fstat(file, &status)
                seen.take(upTo: status.st_size / bareLength)
            }
        }
        guard isStarted else { throw Obstacle("no thread can be started") }
    }
}
#endif
