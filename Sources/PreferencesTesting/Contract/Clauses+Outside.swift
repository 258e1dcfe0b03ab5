internal import Preferences

extension PreferenceBackendContract {
    /// How what one instance stores reaches another.
    static let outsideClauses = [
        Clause("What an instance stored is loaded by the next one", needs: [.others]) { trial in
            let first = try trial.open()
            try first.apply(["a": 1, "b": ["x": .real(.nan)], "removed": 1])
            try first.apply(["removed": nil])
            let contents = try trial.open().contents
            trial.expect(contents == ["a": 1, "b": ["x": .real(.nan)]], "it loads \(describe(contents))")
        },
        Clause("refresh returns what others changed, and nothing that is outdated", needs: [.others]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try await expectTold(trial, by: first, to: second) {
                try await second.refresh(within: trial.patience) { second.contents == first.contents }
            }
        },
        Clause("apply and refresh return what others changed, and nothing that is outdated", needs: [.others]) {
            trial in
            let (first, second) = (try trial.open(), try trial.open())
            try await expectTold(trial, by: first, to: second) {
                // What apply need not compare with may come later.
                let outside = try second.apply(["own": nil]).outside
                let rest = try await second.refresh(within: trial.patience) { second.contents == first.contents }
                return [outside] + rest
            }
        },
        Clause("apply returns what others had stored under the names that it sets", needs: [.others]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try first.apply(["a": 1])
            let outside = try second.apply(["a": 2]).outside
            trial.expect(outside == ["a": 1], "it returns \(describe(outside)) where another had set a to 1")
            let again = try second.refresh()
            trial.expect(again.isEmpty, "refresh returns \(describe(again)) after it")
            trial.expect(second.contents == ["a": 2], "the values it told of add up to \(describe(second.contents))")
            try await first.refresh(within: trial.patience) { first.contents == ["a": 2] }
            trial.expect(first.contents == ["a": 2], "the other shows \(describe(first.contents)) after a set to 2")
        },
        Clause("A refused apply returns what others changed, too", needs: [.others]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try first.apply(["a": 1])
            let commit = try second.apply(["b": 1], if: PreferenceCondition(values: ["a": nil]))
            trial.expect(!commit.isStored, "it is stored though another had set a name that must be absent")
            trial.expect(commit.outside == ["a": 1], "it returns \(describe(commit.outside))")
            let again = try second.refresh()
            trial.expect(again.isEmpty, "refresh returns \(describe(again)) after it")
        },
        Clause("A condition is compared with what others have stored meanwhile", needs: [.others]) { trial in
            let first = try trial.open()
            let refused = [
                PreferenceCondition(values: ["a": 1]), PreferenceCondition(values: ["b": nil]),
                PreferenceCondition(values: ["a": 1], isComplete: true),
            ]
            for condition in refused {
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
            trial.expect(isStored, "a condition that is true of what another stored counts as broken")
        },
        Clause("What changes between load and the first refresh is told", needs: [.others]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            try first.apply(["a": 1])
            trial.expect(second.contents.isEmpty, "an instance knows what was stored after it was loaded")
            try await second.refresh(within: trial.patience) { second.contents == ["a": 1] }
            trial.expect(second.contents == ["a": 1], "what it is told adds up to \(describe(second.contents))")
        },
        Clause("host.changed is called after somebody else changed something", needs: [.others]) { trial in
            let (first, second) = (try trial.open(), try trial.open())
            for value: PropertyListValue? in [1, 2, nil] {
                try second.refresh()
                let count = second.announcements.count
                try first.apply(["a": value])
                let isTold = await second.announcements.exceed(count, within: trial.patience)
                trial.expect(isTold, "it was not called within \(trial.patience)")
                guard isTold else { return }
            }
        },
    ]

    private static func expectTold(
        _ trial: Trial,
        by first: Replica,
        to second: Replica,
        _ take: () async throws -> [[String: PropertyListValue?]]
    ) async throws {
        for changes: [String: PropertyListValue?] in [["a": 1, "b": 1], ["a": "two"], ["a": nil, "c": 1], ["a": 1]] {
            try first.apply(changes)
            let told = try await take()
            let outside = told.reduce(into: [:]) { $0.merge($1) { $1 } }
            trial.expect(outside == changes, "it returns \(describe(outside)) where another did \(describe(changes))")
            let again = try await take()
            let count = (told + again).map(\.count).reduce(0, +)
            trial.expect(count <= changes.count, "it returns \(count) changes where another did \(describe(changes))")
        }
        trial.expect(
            second.contents == first.contents,
            "what it was told adds up to \(describe(second.contents)) and not \(describe(first.contents))"
        )
    }
}
