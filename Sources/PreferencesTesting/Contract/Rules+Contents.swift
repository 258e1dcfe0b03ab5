internal import Preferences

extension PreferenceBackendContract {
    /// The rules of contents: the values and names, and numbers of names, that a place must hold.
    static let contentRules = [
        Rule("Every value is read back with its type and bits") { trial in
            let replica = try trial.open()
            for value in exampleValues {
                do {
                    try replica.apply(["value": value])
                    try trial.expect(replica, holds: ["value": value], "after it was set")
                } catch {
                    trial.note("\(value) is rejected: \(error)")
                }
            }
        },
        Rule("Values of all types can be stored at once") { trial in
            let replica = try trial.open()
            var contents: [String: PropertyListValue] = [:]
            for (index, value) in exampleValues.enumerated() { contents["value \(index)"] = value }
            try replica.apply(contents.mapValues { $0 })
            try trial.expect(replica, holds: contents, "with one name a value")
        },
        Rule("Any string that isn't empty is a name") { trial in
            let replica = try trial.open()
            for name in exampleNames {
                do {
                    try replica.apply([name: 1])
                    try trial.expect(replica, holds: [name: 1], "after the name was set")
                    try replica.apply([name: nil])
                    try trial.expect(replica, holds: [:], "after the name \"\(name)\" was removed")
                } catch {
                    trial.note("the name \"\(name)\" is rejected: \(error)")
                }
            }
        },
        Rule("Different names have different values") { trial in
            let replica = try trial.open()
            var contents: [String: PropertyListValue] = [:]
            for (index, name) in exampleNames.enumerated() { contents[name] = .integer(Int64(index)) }
            try replica.apply(contents.mapValues { $0 })
            try trial.expect(replica, holds: contents, "with many unusual names")
            for name in exampleNames {
                try replica.apply([name: nil])
                contents[name] = nil
                try trial.expect(
                    replica.stores(contents),
                    "the removal of \"\(name)\" affected another name, or nothing"
                )
            }
        },
        Rule("Names that are equal as Swift strings are one name") { trial in
            let replica = try trial.open()
            try replica.apply(["caf\u{E9}": 1])
            try replica.apply(["cafe\u{301}": 2])
            try trial.expect(replica, holds: ["caf\u{E9}": 2], "after the name was set with a combining accent")
            try replica.apply(["caf\u{E9}": nil])
            try trial.expect(replica, holds: [:], "after it was removed with a single letter")
        },
        Rule("Thousands of names can be stored and changed at once") { trial in
            let replica = try trial.open()
            var contents: [String: PropertyListValue] = [:]
            for index in 0..<2_000 { contents["name.\(index)"] = .integer(Int64(index)) }
            try replica.apply(contents.mapValues { $0 })
            try trial.expect(replica, holds: contents, "after one apply")
            var changes: [String: PropertyListValue?] = [:]
            for index in stride(from: 0, to: 2_000, by: 2) {
                changes.updateValue(index % 4 == 0 ? nil : "changed", forKey: "name.\(index)")
            }
            for (name, value) in changes { contents[name] = value }
            try replica.apply(changes)
            try trial.expect(replica, holds: contents, "after half of them were changed or removed")
        },
    ]
}
