internal import Preferences

extension PreferenceBackendContract {
    /// The rules of failing writes: what remains stored.
    static let failingRules = [
        Rule("A failed apply stores nothing, and the next one works", needs: [.failure]) { trial in
            let replica = try trial.open()
            try replica.apply(["a": 1, "b": 1])
            try expectFailure(trial, of: replica, ["a": 2, "b": nil, "new": 1])
            try trial.expect(replica, holds: ["a": 1, "b": 1], "after a failed apply")
            let refreshed = try replica.catchUp()
            trial.expect(refreshed.isEmpty, "catchUp after a failed apply passes on \(describe(refreshed))")
            try replica.apply(["a": 2, "b": nil, "new": 1])
            try trial.expect(replica, holds: ["a": 2, "new": 1], "after the same changes were applied again")
        },
        Rule("A failed apply loses no external change", needs: [.failure, .sharedPlace]) { trial in
            for isRefreshing in [true, false] {
                let first = try trial.open()
                try first.apply(["a": .boolean(isRefreshing), "removed": nil])
                // Loaded only now: an instance that gets both changes at once may find that nothing changed.
                let second = try trial.open()
                try first.apply(["a": 2, "removed": 1])
                try expectFailure(trial, of: second, ["a": 3, "new": 1])
                var returned = isRefreshing ? [] : [try second.apply(["absent": nil]).outside]
                returned += try await second.catchUp(within: trial.patience) { second.contents == first.contents }
                let external = returned.reduce(into: [:]) { $0.merge($1) { $1 } }
                trial.expect(
                    external == ["a": 2, "removed": 1],
                    "\(isRefreshing ? "catchUp" : "apply") after it passes on \(describe(external))"
                )
                let again = try second.catchUp()
                trial.expect(again.isEmpty, "catchUp passes on \(describe(again)) after that")
            }
        },
    ]

    private static func expectFailure(
        _ trial: Trial,
        of replica: Replica,
        _ changes: [String: PropertyListValue?]
    ) throws {
        trial.place.failNextWrite?()
        do {
            try replica.apply(changes)
            trial.note("apply does not throw though the write fails")
        } catch {
            return
        }
    }
}
