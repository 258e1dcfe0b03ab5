internal import Preferences

extension PreferenceBackendContract {
    /// The rules of what is stored.
    static let changeRules = [
        Rule("A new place is empty") { trial in
            try trial.expect([:], "at first")
        },
        Rule("All changes are stored, nil removes a name, and other names keep their values") { trial in
            let replica = try trial.open()
            let steps: [(Changes, expected: Values)] = [
                (["a": 1, "b": "two", "c": [3]], ["a": 1, "b": "two", "c": [3]]),
                (["a": "one"], ["a": "one", "b": "two", "c": [3]]),
                (["b": nil, "a": 2], ["a": 2, "c": [3]]),
                (["absent": nil, "a": 2], ["a": 2, "c": [3]]),
                (["a": nil, "c": nil], [:]),
                (["b": 3], ["b": 3]),
            ]
            for (changes, expected) in steps {
                try replica.store(changes)
                try trial.expect(expected, "after \(describe(changes))")
            }
        },
        Rule("An instance's own changes aren't external changes", needs: []) { trial in
            let replica = try trial.open()
            for changes: Changes in [["a": 1, "b": 1], ["a": 2], ["a": 2], ["b": nil], ["c": nil]] {
                let external = try replica.store(changes).merging(replica.catchUp()) { $1 }
                trial.expect(external.isEmpty, "it passes on \(describe(external)) after \(describe(changes))")
            }
        },
        Rule("sync works at any time and keeps the stored values", needs: []) { trial in
            let replica = try trial.open()
            for changes: Changes in [[:], ["a": 1], ["a": nil]] {
                try replica.store(changes)
                for _ in 0..<2 { try replica.backend.sync(until: PreferenceDeadline(after: replica.backend.timeout)) }
                try trial.expect(changes.compactMapValues { $0 }, "after \(describe(changes)) and a sync")
            }
        },
    ]

    /// The rules of the bodies of changes.
    static let bodyRules = [
        Rule("The body runs once if nobody else changes the place", needs: []) { trial in
            let replica = try trial.open()
            for changes: Changes in [["a": 1], [:], ["a": 1]] {
                var runs = 0
                try replica.change { _ in
                    runs += 1
                    return changes
                }
                trial.expect(runs == 1, "it runs \(runs) times for \(describe(changes))")
            }
        },
        Rule("An error of the body is thrown on, and nothing is stored", needs: []) { trial in
            let replica = try trial.open()
            try replica.store(["a": 1])
            do {
                try replica.change { _ in throw BodyError() }
                trial.note("change returns though the body throws")
            } catch { trial.expect(error is BodyError, "it throws \(error) instead") }
            try trial.expect(["a": 1], "after it")
            try replica.store(["a": 2])
            try trial.expect(["a": 2], "after the next change")
        },
        Rule("The body gets what others have changed, and a body that throws loses nothing of it") { trial in
            let (first, second) = (try trial.open(), try trial.open())
            for isThrowing in [true, false, true] {
                try first.store(["a": .boolean(isThrowing), "b": isThrowing ? 1 : nil])
                do {
                    try second.change { _ in if isThrowing { throw BodyError() } else { return [:] } }
                } catch is BodyError {}
                let contents = second.contents
                trial.expect(contents == first.contents, "the values it has passed on are \(describe(contents))")
            }
            let external = try second.catchUp()
            trial.expect(external.isEmpty, "catchUp passes on \(describe(external)) after it")
        },
        Rule(
            "A change in a body of another instance ends at its deadline and isn't overwritten",
            needs: [.sharedPlace, .atomicity]
        ) {
            trial in
            try await endsAtItsDeadline(trial, PreferenceDeadline(after: .milliseconds(20)))
            // One that says when it waits must not even do that for a moment.
            if try trial.open().backend.saysWhenItWaits { try await endsAtItsDeadline(trial, .now) }
        },
    ]

    private struct BodyError: Error {}

    /// Changes the place by one instance in the body of another one's change.
    private static func endsAtItsDeadline(_ trial: Trial, _ deadline: PreferenceDeadline) async throws {
        let first = try trial.open()
        try first.store(["count": nil])
        let second = try trial.open()
        let outcome = Lock<Result<Void, any Error>?>(nil)
        let isStarted = Lock(false)
        try first.change { contents in
            // It runs again if the other change was stored.
            if isStarted.withLock({ exchange(&$0, with: true) }) { return incremented(contents) }
            startThread {
                let result = Result { _ = try second.change(until: deadline, incremented) }
                outcome.withLock { $0 = result }
            }
            let end = ContinuousClock.now + max(trial.patience, .seconds(1))
            while outcome.withLock({ $0 == nil }), ContinuousClock.now < end { pause() }
            trial.expect(outcome.withLock { $0 != nil }, "it goes on after it")
            return incremented(contents)
        }
        while outcome.withLock({ $0 == nil }) { await Task.yield() }
        switch outcome.withLock({ $0 }) {
        // It may be stored after its deadline.
        case .failure(PreferenceError.outcomeUnknown): break
        case .failure(let error):
            let isRight = !deadline.isNow || error is PreferenceDeadline.WouldWait
            trial.expect(isRight, "it throws \(error), though the deadline is now")
            try trial.expect(["count": 1], "after a change that threw in another's body")
        default: try trial.expect(["count": 2], "after a change in another's body")
        }
    }

    static func incremented(_ contents: Values) -> Changes {
        if case .integer(let value) = contents["count"] { ["count": .integer(value + 1)] } else { ["count": 1] }
    }
}
