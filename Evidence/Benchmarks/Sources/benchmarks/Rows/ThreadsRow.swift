import Dispatch
import Foundation
import Measuring
import Preferences
import Synchronization

/// Threads that use one store at once, more of them than there are processors.
enum ThreadsRow {
    private static let counts = [1, 2, 4, 8]

    static func measure(_ bench: Bench) throws -> Outcome {
        let samples = Samples(count: 1000)
        let store = Ours.inMemory(samples)
        let numbers = samples.names(.integer, most: counts.max() ?? 1).map { Preference($0, default: 0, in: store) }
        let text = Preference("theme", default: "", in: store)
        let longText = Preference(samples.names(.text, most: 1)[0], default: "", in: store)
        text.value = "solarized"
        let shared = numbers[0]

        var table = Table(
            "One store in memory, used from several threads",
            unit: .rate,
            note:
                "Operations a second of all threads together. A set is of a name of the thread's own, a transaction of two "
                + "names; a String is the same for all. In the last column one thread sets a name and the other ones read it, "
                + "and miss whenever it was set since; a single thread does both in turn."
        )
        let operations: [(column: String, body: @Sendable (_ thread: Int, _ threads: Int, _ number: Int) -> Void)] = [
            ("set", { thread, _, number in numbers[thread].value = number }),
            (
                "transaction",
                { thread, _, number in
                    do {
                        try store.transaction { transaction in
                            transaction[numbers[thread]] = number
                            transaction[numbers[(thread + 1) % numbers.count]] = -number
                        }
                    } catch {
                        preconditionFailure("\(error)")
                    }
                }
            ),
            ("get, String, 9 B", { _, _, _ in keep(text.value) }),
            ("get, String, 32 B", { _, _, _ in keep(longText.value) }),
            (
                "1 writer, readers that miss",
                { thread, threads, number in
                    if threads == 1 ? number.isMultiple(of: 2) : thread == 0 {
                        shared.value = number
                    } else {
                        keep(shared.value)
                    }
                }
            ),
        ]
        for (column, body) in operations {
            try table.add(
                column,
                bench.effort,
                counts.map { threads in
                    Contender(label(threads), .ours) {
                        rate(threads: threads, for: bench.effort.length * 10) { body($0, threads, $1) }
                    }
                }
            )
        }
        let most = counts.max() ?? 1
        let aims = operations.map { column, _ in
            table.aim(
                "\(column), from \(most) threads",
                "at least 0.8 of one thread's rate",
                label(most),
                comparedTo: label(1),
                column,
                .atLeast(0.8)
            )
        }
        return Outcome(tables: [table], aims: aims)
    }

    private static func label(_ threads: Int) -> String { threads == 1 ? "1 thread" : "\(threads) threads" }

    /// Returns how often a number of threads, which begin together, run `body` in a second.
    private static func rate(
        threads: Int,
        for duration: Double,
        _ body: @escaping @Sendable (_ thread: Int, _ number: Int) -> Void
    ) -> Double {
        let state = ThreadsState()
        for thread in 0..<threads {
            Thread {
                state.ready.wrappingAdd(1, ordering: .relaxed)
                while !state.isStarted.load(ordering: .acquiring) { Thread.sleep(forTimeInterval: 0.0001) }
                var number = 0
                while !state.isEnded.load(ordering: .relaxed) {
                    for _ in 0..<32 {
                        number += 1
                        body(thread, number)
                    }
                }
                state.operations.wrappingAdd(number, ordering: .relaxed)
                state.group.leave()
            }
            .start(in: state.group)
        }
        while state.ready.load(ordering: .relaxed) < threads { Thread.sleep(forTimeInterval: 0.0001) }
        let time = seconds {
            state.isStarted.store(true, ordering: .releasing)
            Thread.sleep(forTimeInterval: duration)
            state.isEnded.store(true, ordering: .relaxed)
            state.group.wait()
        }
        return Double(state.operations.load(ordering: .relaxed)) / time
    }
}

/// The beginning, the end and the result of a sample, which its threads share.
private final class ThreadsState: Sendable {
    let ready = Atomic(0)
    let isStarted = Atomic(false)
    let isEnded = Atomic(false)
    let operations = Atomic(0)
    let group = DispatchGroup()
}

extension Thread {
    fileprivate func start(in group: DispatchGroup) {
        group.enter()
        start()
    }
}
