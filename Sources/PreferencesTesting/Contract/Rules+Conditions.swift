internal import Preferences

extension PreferenceBackendContract {
    /// The rules of conditions: when changes are stored, and what remains stored if they aren't.
    static let conditionRules = [
        Rule("Changes are stored if the condition holds") { trial in
            for condition in conditionsThatHold {
                let replica = try trial.open()
                try replica.apply(conditioned.mapValues { $0 })
                let isStored = try replica.apply(["new": 1], if: condition).isStored
                trial.expect(isStored, "\(describe(condition)) counts as false")
                try trial.expect(replica, holds: conditioned.merging(["new": 1]) { $1 }, "after \(describe(condition))")
                try replica.apply(["new": nil])
            }
        },
        Rule("Changes are rejected if a listed name has another value") { trial in
            try expectRejection(trial, PreferenceCondition(values: ["a": 2]))
            try expectRejection(trial, PreferenceCondition(values: ["a": 1, "b": "other"]))
        },
        Rule("Changes are rejected if a listed name is absent") { trial in
            try expectRejection(trial, PreferenceCondition(values: ["absent": 1]))
        },
        Rule("Changes are rejected if a name that must be absent is stored") { trial in
            try expectRejection(trial, PreferenceCondition(values: ["a": nil]))
        },
        Rule("Changes are rejected if a complete condition doesn't list a stored name") { trial in
            try expectRejection(trial, PreferenceCondition(values: ["a": 1], isComplete: true))
            try expectRejection(trial, PreferenceCondition(values: [:], isComplete: true))
        },
        Rule("A complete condition with a prefix applies to names that begin with it and are longer") { trial in
            let replica = try trial.open()
            try replica.apply(["b.x": 1, "b.": 2, "c": 3])
            var condition = PreferenceCondition(values: [:], isComplete: true, prefix: "b.")
            let isRejected = try !replica.apply(["new": 1], if: condition).isStored
            trial.expect(isRejected, "b.x is overlooked under the prefix b.")
            condition.values = ["b.x": 1]
            let isStored = try replica.apply(["new": 1], if: condition).isStored
            trial.expect(isStored, "names without the prefix b., or with nothing after it, make the condition false")
        },
        Rule("A rejected apply changes nothing, and a later one is stored") { trial in
            let replica = try trial.open()
            try replica.apply(conditioned.mapValues { $0 })
            let rejected = PreferenceCondition(values: ["a": 9])
            try replica.apply(["a": 2, "b": nil, "new": 1], if: rejected)
            try trial.expect(replica, holds: conditioned, "after a rejected apply")
            try replica.apply(["a": 2, "b": nil, "new": 1])
            try trial.expect(replica, holds: ["a": 2, "new": 1], "after the same set without a condition")
        },
        Rule("Values are equal only if their types and bits are") { trial in
            let replica = try trial.open()
            for (stored, other) in unequalPairs {
                try replica.apply(["a": stored])
                let condition = PreferenceCondition(values: ["a": other])
                let isStored = try replica.apply(["new": 1], if: condition).isStored
                trial.expect(!isStored, "\(stored) counts as equal to \(other)")
                try replica.apply(["a": other, "new": nil])
                try trial.expect(replica, holds: ["a": other], "after \(other) replaced \(stored)")
            }
        },
    ]

    private static let conditioned: [String: PropertyListValue] = ["a": 1, "b": "text"]

    private static let conditionsThatHold = [
        PreferenceCondition(values: ["a": 1]),
        PreferenceCondition(values: ["a": 1, "b": "text"]),
        PreferenceCondition(values: ["absent": nil]),
        PreferenceCondition(values: ["a": 1, "new": nil]),
        PreferenceCondition(values: ["a": 1, "b": "text"], isComplete: true),
        PreferenceCondition(values: ["a": 1, "b": "text", "absent": nil], isComplete: true),
        PreferenceCondition(values: ["a": 1], isComplete: true, prefix: "a"),
        PreferenceCondition(values: [:], isComplete: true, prefix: "absent"),
        PreferenceCondition(values: [:], isComplete: true, prefix: "b"),
    ]

    private static func expectRejection(_ trial: Trial, _ condition: PreferenceCondition) throws {
        let replica = try trial.open()
        try replica.apply(conditioned.mapValues { $0 })
        let isStored = try replica.apply(["new": 1], if: condition).isStored
        trial.expect(!isStored, "\(describe(condition)) counts as true of \(describe(conditioned))")
        try replica.apply(["new": nil])
    }

    private static func describe(_ condition: PreferenceCondition) -> String {
        "the \(condition.isComplete ? "complete " : "")condition \(PreferencesTesting.describe(condition.values))"
    }

    private static func describe(_ values: [String: PropertyListValue]) -> String {
        PreferencesTesting.describe(values)
    }
}
