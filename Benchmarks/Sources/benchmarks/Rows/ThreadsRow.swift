import Dispatch
import Measuring
import Preferences

/// Two threads that read the same name at once.
enum ThreadsRow {
    static func measure(_ bench: Bench) throws -> Outcome {
        let samples = Samples(count: 1000)
        let store = Ours.inMemory(samples)
        let dictionary = try MutexDictionary(samples)
        let (number, text) = (samples.names(.integer, most: 1)[0], samples.names(.text, most: 1)[0])
        let (ownNumber, ownText) = (Preference(number, default: 0, in: store), Preference(text, default: "", in: store))

        var table = Table(
            "Get of the same name from two threads",
            note: "The time of one read, as each thread sees it."
        )
        try table.add(
            "Int",
            bench.effort,
            [
                contender(bench, Ours.memory, .ours) { for _ in 0..<$0 { keep(ownNumber.value) } },
                contender(bench, GetRow.dictionary, .limit) { for _ in 0..<$0 { keep(dictionary.value(number)) } },
            ]
        )
        try table.add(
            "String, 32 B",
            bench.effort,
            [
                contender(bench, Ours.memory, .ours) { for _ in 0..<$0 { keep(ownText.value) } },
                contender(bench, GetRow.dictionary, .limit) { for _ in 0..<$0 { keep(dictionary.value(text)) } },
            ]
        )
        let aims = table.columns.map { column in
            table.aim(
                "get from 2 threads, \(column)",
                "no slower than a mutex dictionary",
                Ours.memory,
                comparedTo: GetRow.dictionary,
                column,
                .atMost(1)
            )
        }
        return Outcome(tables: [table], aims: aims)
    }

    private static func contender(
        _ bench: Bench,
        _ name: String,
        _ kind: Contender.Kind,
        _ body: @escaping @Sendable (Int) -> Void
    ) -> Contender {
        .timed(name, kind, length: bench.effort.length) { count in
            DispatchQueue.concurrentPerform(iterations: 2) { _ in body(count) }
        }
    }
}
