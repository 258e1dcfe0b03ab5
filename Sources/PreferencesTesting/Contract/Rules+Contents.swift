internal import Preferences

extension PreferenceBackendContract {
    /// The rules of contents: the values and names, and numbers of names, that a place must hold.
    static let contentRules = [
        Rule("Every value is read back with its type and bits") { trial in
            let replica = try trial.open()
            for value in exampleValues + unequalPairs.flatMap({ [$0.0, $0.1] }) {
                do {
                    try replica.store(["value": value])
                    try trial.expect(["value": value], "after it was set")
                } catch {
                    trial.note("\(value) is rejected: \(error)")
                }
            }
        },
        Rule("Any string that isn't empty is a name") { trial in
            let replica = try trial.open()
            for name in exampleNames {
                do {
                    try replica.store([name: 1])
                    try trial.expect([name: 1], "after the name was set")
                    try replica.store([name: nil])
                } catch {
                    trial.note("the name \"\(name)\" is rejected: \(error)")
                }
            }
            try trial.expect([:], "after all were removed")
        },
        Rule("Different names have different values") { trial in
            let replica = try trial.open()
            var contents: Values = [:]
            for (index, name) in exampleNames.enumerated() { contents[name] = .integer(Int64(index)) }
            try replica.store(contents.mapValues { $0 })
            try trial.expect(contents, "with many unusual names")
            for name in exampleNames {
                try replica.store([name: nil])
                contents[name] = nil
                try trial.expect(contents, "after the removal of \"\(name)\"")
            }
        },
        Rule("Names that are equal as Swift strings are one name") { trial in
            let replica = try trial.open()
            try replica.store(["caf\u{E9}": 1])
            try replica.store(["cafe\u{301}": 2])
            try trial.expect(["caf\u{E9}": 2], "after the name was set with a combining accent")
            try replica.store(["caf\u{E9}": nil])
            try trial.expect([:], "after it was removed with a single letter")
        },
        Rule("Thousands of names can be stored and changed at once") { trial in
            let replica = try trial.open()
            var contents: Values = [:]
            for index in 0..<2_000 { contents["name.\(index)"] = exampleValues[index % exampleValues.count] }
            for index in 0..<2_000 where contents["name.\(index)"].map(isLong) ?? false {
                contents["name.\(index)"] = 1
            }
            try replica.store(contents.mapValues { $0 })
            try trial.expect(contents, "after one change")
            var changes: Changes = [:]
            for index in stride(from: 0, to: 2_000, by: 2) {
                changes.updateValue(index % 4 == 0 ? nil : "changed", forKey: "name.\(index)")
            }
            for (name, value) in changes { contents[name] = value }
            try replica.store(changes)
            try trial.expect(contents, "after half of them were changed or removed")
        },
    ]

    private static func isLong(_ value: PropertyListValue) -> Bool {
        switch value {
        case .string(let text): text.utf8.count > 1_000
        case .data(let data): data.count > 1_000
        default: false
        }
    }
}
