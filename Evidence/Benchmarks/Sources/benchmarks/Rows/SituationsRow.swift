import Dispatch
import Measuring
import Observation
import Preferences

/// Sets of one name in the situations of real programs.
enum SituationsRow {
    static func measure(_ bench: Bench) throws -> Outcome {
        let samples = Samples(count: 1000)
        let name = samples.names(.integer, most: 1)[0]
        var table = Table(
            "Set, in the situations of programs",
            note: "One Int of 1,000 names. The first line is of the main thread, without a reader or an observer."
        )
        for (column, isInFile) in [("in memory", false), ("in a file", true)] {
            let contenders = try Situation.all.map { situation in
                // One store and one folder each, so that no situation affects another.
                let store = isInFile ? try Ours.inFile(try bench.place.folder(), samples) : Ours.inMemory(samples)
                let set = situation.setting(Preference(name, default: 0, in: store), store)
                return Contender.timed(situation.name, .ours, length: bench.effort.length, set)
            }
            try table.add(column, bench.effort, contenders)
        }
        return Outcome(tables: [table])
    }

    private struct Situation: Sendable {
        let name: String
        /// Returns a function that sets as often as its argument says.
        let setting: @Sendable (Preference<Int>, PreferenceStore) -> (Int) -> Void

        static let all = [
            Situation(name: "a set") { preference, _ in { set(preference, $0) } },
            Situation(name: "off the main thread") { preference, _ in
                { count in
                    let done = DispatchSemaphore(value: 0)
                    DispatchQueue.global().async {
                        set(preference, count)
                        done.signal()
                    }
                    done.wait()
                }
            },
            Situation(name: "and a read") { preference, _ in { set(preference, $0) { keep(preference.value) } } },
            Situation(name: "and a read that Observation tracks") { preference, _ in
                { count in
                    set(preference, count) {
                        withObservationTracking {
                            keep(preference.value)
                        } onChange: {
                        }
                    }
                }
            },
            Situation(name: "with an observer") { preference, _ in
                let observation = preference.observe { keep($0.new) }
                return { count in withExtendedLifetime(observation) { set(preference, count) } }
            },
            Situation(name: "with 1,000 observers") { preference, _ in
                let observations = (0..<1000).map { _ in preference.observe { keep($0.new) } }
                return { count in withExtendedLifetime(observations) { set(preference, count) } }
            },
            Situation(name: "with 1,000 observers of other names") { preference, store in
                let observations = (0..<1000).map { number in
                    Preference("other-\(number)", default: 0, in: store).observe { keep($0.new) }
                }
                return { count in withExtendedLifetime(observations) { set(preference, count) } }
            },
        ]

        /// Sets numbers that were not set before: the clock counts nanoseconds, and a set takes many of them.
        private static func set(_ preference: Preference<Int>, _ count: Int, _ then: () -> Void = {}) {
            let first = now()
            for number in first..<(first + count) {
                preference.value = number
                then()
            }
        }
    }
}
