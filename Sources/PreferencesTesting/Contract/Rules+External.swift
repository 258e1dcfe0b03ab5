internal import Preferences

extension PreferenceBackendContract {
    /// The rules of external changes: how the values that one instance stores reach another.
    static let externalRules = [
        Rule("The next instance loads the stored values", needs: [.sharedPlace]) { trial in
            let first = try trial.open()
            try first.apply(["a": 1, "b": ["x": .real(.nan)], "removed": 1])
            try first.apply(["removed": nil])
            let contents = try trial.open().contents
            trial.expect(contents == ["a": 1, "b": ["x": .real(.nan)]], "it loads \(describe(contents))")
        },
        Rule("catchUp passes on all external changes, and none that is outdated", needs: [.sharedPlace]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try await expectReturned(trial, by: first, to: second) {
                try await second.catchUp(within: trial.patience) { second.contents == first.contents }
            }
        },
        Rule("apply and catchUp pass on all external changes, and none that is outdated", needs: [.sharedPlace]) {
            trial in
            let (first, second) = (try trial.open(), try trial.open())
            try await expectReturned(trial, by: first, to: second) {
                // Changes that apply needn't compare with may come later.
                let external = try second.apply(["own": nil]).outside
                let rest = try await second.catchUp(within: trial.patience) { second.contents == first.contents }
                return [external] + rest
            }
        },
        Rule("apply passes on external changes of the names that it sets", needs: [.sharedPlace]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try first.apply(["a": 1])
            let external = try second.apply(["a": 2]).outside
            trial.expect(external == ["a": 1], "it passes on \(describe(external)) though another had set a to 1")
            let again = try second.catchUp()
            trial.expect(again.isEmpty, "catchUp passes on \(describe(again)) after it")
            trial.expect(second.contents == ["a": 2], "the values it passed on add up to \(describe(second.contents))")
            try await first.catchUp(within: trial.patience) { first.contents == ["a": 2] }
            trial.expect(first.contents == ["a": 2], "the other shows \(describe(first.contents)) after a set to 2")
        },
        Rule("A rejected apply passes on external changes, too", needs: [.sharedPlace]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try first.apply(["a": 1])
            let commit = try second.apply(["b": 1], if: PreferenceCondition(values: ["a": nil]))
            trial.expect(!commit.isStored, "it is stored though another instance had set a name that must be absent")
            trial.expect(commit.outside == ["a": 1], "it passes on \(describe(commit.outside))")
            let again = try second.catchUp()
            trial.expect(again.isEmpty, "catchUp passes on \(describe(again)) after it")
        },
        Rule("A condition is compared with the latest stored values", needs: [.sharedPlace]) { trial in
            let first = try trial.open()
            let rejected = [
                PreferenceCondition(values: ["a": 1]), PreferenceCondition(values: ["b": nil]),
                PreferenceCondition(values: ["a": 1], isComplete: true),
            ]
            for condition in rejected {
                try first.apply(["a": 1, "b": nil, "new": nil])
                let second = try trial.open()
                try first.apply(["a": 2, "b": 1])
                let isStored = try second.apply(["new": 1], if: condition).isStored
                trial.expect(!isStored, "a condition on \(describe(condition.values)) counts as true")
            }
            try first.apply(["a": 1, "b": nil, "new": nil])
            let second = try trial.open()
            try first.apply(["a": 2, "b": 1])
            let isStored = try second.apply(["new": 2], if: PreferenceCondition(values: ["a": 2, "b": 1])).isStored
            trial.expect(isStored, "a condition that is true of the values of another instance counts as false")
        },
        Rule("An external change between load and the first catchUp is passed on", needs: [.sharedPlace]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try first.apply(["a": 1])
            trial.expect(second.contents.isEmpty, "an instance shows values that were stored after it was loaded")
            try await second.catchUp(within: trial.patience) { second.contents == ["a": 1] }
            trial.expect(second.contents == ["a": 1], "the values it passed on add up to \(describe(second.contents))")
        },
        Rule("host.changed is called after an external change", needs: [.sharedPlace]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            for value: PropertyListValue? in [1, 2, nil] {
                try second.catchUp()
                let count = second.announcements.count
                try first.apply(["a": value])
                let isNotified = await second.announcements.exceed(count, within: trial.patience)
                trial.expect(isNotified, "it was not called within \(trial.patience)")
                guard isNotified else { return }
            }
        },
    ]

    private static func expectReturned(
        _ trial: Trial,
        by first: Replica,
        to second: Replica,
        _ receive: () async throws -> [[String: PropertyListValue?]]
    ) async throws {
        for changes: [String: PropertyListValue?] in [["a": 1, "b": 1], ["a": "two"], ["a": nil, "c": 1], ["a": 1]] {
            try first.apply(changes)
            let returned = try await receive()
            let external = returned.reduce(into: [:]) { $0.merge($1) { $1 } }
            trial.expect(
                external == changes,
                "it passes on \(describe(external)) after \(describe(changes)) by another"
            )
            let again = try await receive()
            let count = (returned + again).map(\.count).reduce(0, +)
            trial.expect(count <= changes.count, "it passes on \(count) changes after \(describe(changes)) by another")
        }
        trial.expect(
            second.contents == first.contents,
            "the changes it passed on add up to \(describe(second.contents)) and not \(describe(first.contents))"
        )
    }
}
