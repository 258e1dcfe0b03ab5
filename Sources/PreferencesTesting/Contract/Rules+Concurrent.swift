internal import DurableFile
internal import Preferences

extension PreferenceBackendContract {
    /// The rules for several instances that are used at the same time.
    static let concurrentRules = [
        Rule("A set of changes is read whole or not at all", needs: [.sharedPlace]) { trial in
            let (writer, reader) = (try trial.open(), try trial.open())
            try writer.apply(["a": 0, "b": 0])
            let outcome = Lock<Result<Void, any Error>?>(nil)
            let write: @Sendable () -> Void = {
                let result = Result {
                    for value: Int64 in 1...200 { try writer.apply(["a": .integer(value), "b": .integer(value)]) }
                }
                outcome.withLock { $0 = result }
            }
            // Not a task: if all threads of tasks are busy, the two would take turns.
            if !WorkerQueue.startThread("writer", write) { write() }
            var reads = 0
            while outcome.withLock({ $0 == nil }) {
                try reader.catchUp()
                reads += 1
                let contents = reader.contents
                guard contents["a"] == contents["b"] else {
                    trial.note("it shows \(describe(contents))")
                    break
                }
                // A task that yields might not run again before the writer ends.
                if reads.isMultiple(of: 100) { await Task.yield() } else { Pause.sleep(microseconds: 50) }
            }
            while outcome.withLock({ $0 == nil }) { await Task.yield() }
            try outcome.withLock { $0 }?.get()
            try await reader.catchUp(within: trial.patience) { reader.contents == ["a": 200, "b": 200] }
            trial.expect(reader.contents == ["a": 200, "b": 200], "in the end it shows \(describe(reader.contents))")
        },
        Rule("Of racing changes with one condition, one is stored", needs: [.sharedPlace]) { trial in
            let (count, rounds) = (3, 50)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    let replica = try trial.open()
                    group.addTask {
                        for _ in 0..<rounds where try await !increment("count", in: replica) {
                            trial.note("a condition on the values that an instance last saw is rejected repeatedly")
                            return
                        }
                    }
                }
                try await group.waitForAll()
            }
            let end = try trial.open().contents
            let expected = Int64(count * rounds)
            trial.expect(
                end == ["count": .integer(expected)],
                "\(expected) increments, each on the condition of the value before, add up to \(describe(end))"
            )
        },
        Rule("An instance's own and external changes add up to the stored values", needs: [.sharedPlace]) { trial in
            let replicas = try (0..<3).map { _ in try trial.open() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, replica) in replicas.enumerated() {
                    group.addTask {
                        for step in 0..<60 {
                            let name = "name.\((step * 7 + index * 3) % 5)"
                            try replica.apply([name: step % 4 == 3 ? nil : .string("\(index).\(step)")])
                            if step % 3 == index { try replica.catchUp() }
                            await Task.yield()
                        }
                    }
                }
                try await group.waitForAll()
            }
            let stored = try trial.open().contents
            for replica in replicas {
                try await replica.catchUp(within: trial.patience) { replica.contents == stored }
                trial.expect(
                    replica.contents == stored,
                    "an instance shows \(describe(replica.contents)) while \(describe(stored)) is stored"
                )
            }
        },
    ]

    /// Adds one; returns false if the backend rejects that so often that the other instances' changes can't be the cause.
    private static func increment(_ name: String, in replica: Replica) async throws -> Bool {
        for _ in 0..<1_000 {
            let old = replica.contents[name]
            let new: PropertyListValue = if case .integer(let value) = old { .integer(value + 1) } else { 1 }
            if try replica.apply([name: new], if: PreferenceCondition(values: [name: old])).isStored { return true }
            await Task.yield()
        }
        return false
    }
}
