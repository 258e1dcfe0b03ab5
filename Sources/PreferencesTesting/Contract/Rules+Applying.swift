internal import Preferences

extension PreferenceBackendContract {
    /// The rules of `apply`, `catchUp` and `sync` with a single instance.
    static let applyingRules = [
        Rule("A new place is empty") { trial in
            let replica = try trial.open()
            trial.expect(replica.contents.isEmpty, "it loads \(describe(replica.contents))")
            try trial.expect(replica, holds: [:], "at first")
        },
        Rule("All changes of a set are stored") { trial in
            let replica = try trial.open()
            let contents: [String: PropertyListValue] = ["first": 1, "second": "two", "third": [3]]
            let isStored = try replica.apply(contents.mapValues { $0 }).isStored
            trial.expect(isStored, "apply says that nothing was stored, though there was no condition")
            try trial.expect(replica, holds: contents, "after an apply of all")
        },
        Rule("A later value replaces an earlier one, and other names keep their values") { trial in
            let replica = try trial.open()
            try replica.apply(["changed": 1, "kept": 1])
            try replica.apply(["changed": "two"])
            try trial.expect(replica, holds: ["changed": "two", "kept": 1], "after a second apply")
        },
        Rule("nil removes a name") { trial in
            let replica = try trial.open()
            try replica.apply(["removed": 1, "kept": 1, "changed": 1])
            try replica.apply(["removed": nil, "changed": 2])
            try trial.expect(replica, holds: ["kept": 1, "changed": 2], "after the removal of one")
            try replica.apply(["kept": nil, "changed": nil])
            try trial.expect(replica, holds: [:], "after the removal of all")
            try replica.apply(["removed": 3])
            try trial.expect(replica, holds: ["removed": 3], "after a removed name was set again")
        },
        Rule("Removing an absent name or setting an equal value counts as stored and changes nothing") { trial in
            let replica = try trial.open()
            try replica.apply(["same": 1])
            let removal = try replica.apply(["absent": nil])
            trial.expect(removal.isStored, "the removal of an absent name counts as not stored")
            let repetition = try replica.apply(["same": 1])
            trial.expect(repetition.isStored, "an equal value counts as not stored")
            try trial.expect(replica, holds: ["same": 1], "after both")
        },
        Rule("An instance's own changes aren't external changes") { trial in
            let replica = try trial.open()
            for changes: [String: PropertyListValue?] in [
                ["a": 1, "b": 1], ["a": 2], ["a": 2], ["b": nil], ["c": nil],
            ] {
                let external = try replica.apply(changes).outside
                trial.expect(external.isEmpty, "apply passes on \(describe(external)) as external changes")
                let refreshed = try replica.catchUp()
                trial.expect(refreshed.isEmpty, "catchUp passes on \(describe(refreshed))")
            }
        },
        Rule("A name that apply accepts isn't managed") { trial in
            let replica = try trial.open()
            trial.expect(!replica.backend.isManaged("free"), "an absent name counts as managed")
            try replica.apply(["free": 1])
            trial.expect(!replica.backend.isManaged("free"), "a name that was just set counts as managed")
        },
        Rule("sync works at any time and keeps the stored values") { trial in
            let replica = try trial.open()
            try replica.backend.sync()
            try replica.apply(["a": 1])
            try replica.backend.sync()
            try replica.backend.sync()
            try trial.expect(replica, holds: ["a": 1], "after a sync")
            try replica.apply(["a": nil])
            try replica.backend.sync()
            try trial.expect(replica, holds: [:], "after the sync of a removal")
        },
        Rule("A name that was never set has no value") { trial in
            let replica = try trial.open()
            let value = replica.backend.values(for: ["absent"])["absent"]
            trial.expect(value == nil, "an absent name has the value \(value.map(\.description) ?? "")")
        },
    ]
}
