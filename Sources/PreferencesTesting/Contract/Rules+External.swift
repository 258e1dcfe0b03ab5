internal import Preferences

extension PreferenceBackendContract {
    /// The rules of external changes: how the values that one instance stores reach another.
    static let externalRules = [
        Rule("catchUp passes on all external changes, and none that is outdated") { trial in
            let (first, second) = (try trial.open(), try trial.open())
            for changes: Changes in [["a": 1, "b": 1], ["a": "two"], ["a": nil, "c": 1], ["a": 1]] {
                try first.store(changes)
                var returned = try await second.catchUp(within: trial.patience) { second.contents == first.contents }
                let external = returned.reduce(into: [:]) { $0.merge($1) { $1 } }
                trial.expect(external == changes, "it passes on \(describe(external)) after \(describe(changes))")
                returned.append(try second.catchUp())
                let count = returned.map(\.count).reduce(0, +)
                trial.expect(count <= changes.count, "it passes on \(count) changes after \(describe(changes))")
            }
        },
        Rule("An external change before a change is passed on, and replaced by it") { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try first.store(["a": 1, "b": 1])
            let external = try second.store(["a": 2])
            trial.expect(external == ["a": 1, "b": 1], "it passes on \(describe(external))")
            trial.expect(second.contents == ["a": 2, "b": 1], "the values are \(describe(second.contents))")
            try await first.catchUp(within: trial.patience) { first.contents == second.contents }
            trial.expect(first.contents == second.contents, "the other one has \(describe(first.contents))")
            try trial.expect(["a": 2, "b": 1], "after both")
        },
        Rule("An external change between load and the first catchUp is passed on") { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try first.store(["a": 1])
            trial.expect(second.contents.isEmpty, "an instance shows values that were stored after it was loaded")
            try await second.catchUp(within: trial.patience) { second.contents == ["a": 1] }
            trial.expect(second.contents == ["a": 1], "the values it passed on add up to \(describe(second.contents))")
        },
        Rule("host.changed is called after an external change") { trial in
            let (first, second) = (try trial.open(), try trial.open())
            for value: PropertyListValue? in [1, 2, nil] {
                try second.catchUp()
                let count = second.announcements.count
                try first.store(["a": value])
                let isNotified = await second.announcements.exceed(count, within: trial.patience)
                trial.expect(isNotified, "it was not called within \(trial.patience)")
                guard isNotified else { return }
            }
        },
    ]

    /// The rules of failing writes: what remains stored.
    static let failingRules = [
        Rule("A failed change stores nothing and loses no external change", needs: [.failure, .sharedPlace]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try first.store(["a": 1, "b": 1])
            trial.expectFailure(of: second, ["a": 2, "b": nil, "new": 1])
            try trial.expect(["a": 1, "b": 1], "after a failed change")
            try await second.catchUp(within: trial.patience) { second.contents == first.contents }
            trial.expect(second.contents == first.contents, "the values are \(describe(second.contents))")
            try second.store(["a": 2, "b": nil, "new": 1])
            try trial.expect(["a": 2, "new": 1], "after the same changes again")
        }
    ]
}
