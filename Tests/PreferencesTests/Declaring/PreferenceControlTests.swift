import PreferencesSchema
import TestSupport
import Testing

@testable import Preferences

struct PreferenceControlTests {
    private enum Theme: String, CaseIterable, Sendable {
        case light, dark
    }

    private struct Sample: PreferenceGroup {
        @Preference("flag") var flag = false
        @Preference("theme") var theme: Theme?
        @Preference("level", .range(0...100)) var level = 1
        @Preference("delay", .range(0...101)) var delay = 1
        @Preference("balance", .range(-1...1)) var balance = 0.0
        @Preference("constant", .range(1...1)) var constant = 1
        @Preference("huge", .range(0...100_000)) var huge = 1
        @Preference("small") var small: Int8 = 1
        @Preference("count", .range(1...)) var count = 1
        @Preference("name") var name = ""
        @Preference("token", .secret, .choices(["a"])) var token: String?
        @Preference("tags") var tags: [String] = []
        @Preference("hex", coding: Sample.hex) var hex = 1

        static var hex: PreferenceCoding<Int> {
            PreferenceCoding("hex") {
                .string(String($0, radix: 16))
            } decode: {
                Int(try String(storedValue: $0), radix: 16)
            }
        }
    }

    @Test
    func typeAndRulesChooseTheControl() {
        let controls = Sample(in: .inMemory()).preferences.map(\.control)
        same(
            controls,
            [
                .toggle, .picker(["light", "dark"]), .stepper(0...100), .slider(0...101, isWhole: true),
                .slider(-1...1, isWhole: false), .number, .number, .slider(-128...127, isWhole: true), .number, .text,
                .secret, .form, .number,
            ]
        )
    }

    @Test
    func menuHasNoChoiceThatAnotherRuleForbids() {
        struct Group: PreferenceGroup {
            @Preference("level", .range(0...10), .choices([2, 4, 11])) var level = 2
            @Preference("name", .choices(["a", "abc"]), .length(2...)) var name: String?
        }
        same(Group(in: .inMemory()).preferences.map(\.control), [.picker([2, 4]), .picker(["abc"])])
    }

    @Test(
        arguments: [
            (["type": "date"], "date"), (["type": "object", "required": ["$date"]], "date"),
            (["type": ["string", "object"]], "text"), (["type": "object"], "form"), ([:], "form"),
            (["type": "integer", "minimum": 0.5, "maximum": 2.5], "stepper"),
            (["type": "integer", "minimum": 0.25, "maximum": 0.75], "slider"),
            (["type": "number", "minimum": "0", "maximum": 1], "number"),
        ] as [([String: PropertyListValue], String)]
    )
    func schemaOfAPersonChoosesTheControl(_ keywords: [String: PropertyListValue], _ name: String) {
        same(PreferenceControl(keywords).name, name)
    }
}
