internal import CPreferences
internal import Preferences

extension PreferenceBackendContract {
    /// The rules for several instances that are used at the same time.
    static let concurrentRules = [
        Rule("Changes are read together or not at all", needs: [.sharedPlace, .atomicity]) { trial in
            let (writer, reader) = (try trial.open(), try trial.open())
            try writer.store(["a": 0, "b": 0])
            let outcome = Lock<Result<Void, any Error>?>(nil)
            // Not a task: if all threads of tasks are busy, the two would take turns.
            startThread {
                let result = Result {
                    for value: Int64 in 1...200 { try writer.store(["a": .integer(value), "b": .integer(value)]) }
                }
                outcome.withLock { $0 = result }
            }
            while outcome.withLock({ $0 == nil }) {
                try reader.catchUp()
                let contents = reader.contents
                guard contents["a"] == contents["b"] else {
                    trial.note("it shows \(describe(contents))")
                    break
                }
                pause()
            }
            while outcome.withLock({ $0 == nil }) { await Task.yield() }
            try outcome.withLock { $0 }?.get()
            try await reader.catchUp(within: trial.patience) { reader.contents == ["a": 200, "b": 200] }
            trial.expect(reader.contents == ["a": 200, "b": 200], "in the end it shows \(describe(reader.contents))")
        },
        Rule("No change of racing instances is based on outdated values", needs: [.sharedPlace, .atomicity]) { trial in
            let (count, rounds) = (3, 50)
            try await race(trial, count) { _, replica in
                for _ in 0..<rounds {
                    try replica.change { contents in
                        pause()
                        return incremented(contents)
                    }
                }
            }
            try trial.expect(["count": .integer(Int64(count * rounds))], "after \(count * rounds) increments")
        },
        Rule("An instance's own and external changes add up to the stored values") { trial in
            let replicas = try await race(trial, 3) { index, replica in
                for step in 0..<60 {
                    let name = "name\((step * 7 + index * 3) % 5)"
                    try replica.store([name: step % 4 == 3 ? nil : .string("\(index).\(step)")])
                    if step % 3 == index { try replica.catchUp() }
                }
            }
            let stored = try trial.open().contents
            for replica in replicas {
                try await replica.catchUp(within: trial.patience) { replica.contents == stored }
                let contents = replica.contents
                trial.expect(
                    contents == stored,
                    "an instance shows \(describe(contents)) while \(describe(stored)) is stored"
                )
            }
        },
    ]

    /// Runs `body` with several instances at the same time, each on a thread of its own.
    @discardableResult
    private static func race(
        _ trial: Trial,
        _ count: Int,
        _ body: @escaping @Sendable (Int, Replica) throws -> Void
    ) async throws -> [Replica] {
        let replicas = try (0..<count).map { _ in try trial.open() }
        let left = Lock(count)
        for (index, replica) in replicas.enumerated() {
            startThread {
                do { try body(index, replica) } catch { trial.note("\(error)") }
                left.withLock { $0 -= 1 }
            }
        }
        while left.withLock({ $0 > 0 }) { await Task.yield() }
        return replicas
    }
}

/// Runs `body` on a new thread.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    let code = preferences_start_thread(
        { context in if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() } },
        box
    )
    if code != 0 { Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body() }
}

/// Lets other threads run for a moment.
func pause() {
    var word: UInt32 = 0
    preferences_wait(&word, 0, 50_000)
}
