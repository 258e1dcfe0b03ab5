import Foundation
import Preferences
import TestSupport
import Testing

struct RuleTests {
    private struct TooLoud: Error, CustomStringConvertible { let description = "think of the neighbours" }

    private let store = PreferenceStore.inMemory()

    @Test
    func valueOutsideTheRangeIsRejectedAndNotClamped() {
        let volume = Preference("volume", default: 5, .range(0...10), in: store)
        let error = #expect(throws: PreferenceError.self) { try volume.write(11) }
        same(error?.code, .invalid)
        same(error?.description, "preference \"volume\": 11 is outside 0...10; nothing was changed")
        #expect(store.contents.isEmpty)
    }

    @Test
    func defaultIsNotChecked() {
        let volume = Preference("volume", default: -1, .range(0...10), in: store)
        same(volume.value, -1)
    }

    @Test
    func nilIsAllowedByEveryRange() throws {
        let volume = Preference<Int?>("volume", .range(0...10), in: store)
        try volume.write(3)
        try volume.write(nil)
        #expect(throws: PreferenceError.self) { try volume.write(-3) }
        #expect(store.contents.isEmpty)
    }

    @Test
    func thrownErrorIsTheReason() {
        let volume = Preference(
            "volume",
            default: 5,
            .check {
                if $0 > 3 { throw TooLoud() }
                return true
            },
            in: store
        )
        let error = #expect(throws: PreferenceError.self) { try volume.write(4) }
        same(error?.description.contains("think of the neighbours"), true)
    }

    @Test
    func rejectedSetIsReportedAndNotPublished() {
        let volume = Preference("volume", default: 5, .check { $0.isMultiple(of: 5) }, in: store)
        let seen = Recorder<Int>()
        let issues = store.recordIssues()
        let observation = volume.observe { seen.record($0.new) }
        volume.value = 7
        same(issues.elements.map(\.code), [.invalid])
        #expect(seen.elements.isEmpty)
        withExtendedLifetime(observation) {}
    }

    @Test
    func storedValueThatBreaksTheRuleIsReportedAndReadsAsTheDefault() throws {
        store["volume"] = 99
        let volume = Preference("volume", default: 5, .range(0...10), in: store)
        let issues = store.recordIssues()
        for _ in 0..<3 { same(volume.value, 5) }
        same(issues.elements.map(\.code), [.invalid])
        same(volume.source, .default)
        same(volume.storedValue, 99)
        let error = #expect(throws: PreferenceError.self) { try volume.update { $0 += 1 } }
        same(error?.code, .invalid)
        let lenient = Preference("volume", default: 5, in: store)
        same(lenient.value, 99, "another declaration has its own rule")
    }

    @Test
    func ruleOfADeclarationThatIsGoneDoesNotApply() {
        let store = PreferenceStore.inMemory(["volume": 7])
        store.issueHandler = { _ in }
        for limit in (0..<1_000).map({ $0.isMultiple(of: 2) ? 10 : 5 }) {
            same(Preference("volume", default: 1, .range(0...limit), in: store).value, limit == 10 ? 7 : 1)
        }
    }

    @Test(arguments: [("light", nil), ("blue", "blue is not one of light, dark")])
    func choicesAllowOnlyTheirValues(value: String, reason: String?) throws {
        let theme = Preference("theme", default: "light", .choices(["light", "dark"]), in: store)
        try same(reasonToReject { try theme.write(value) }, reason)
        let optional = Preference<String?>("theme", .choices(["light", "dark"]), in: store)
        try same(reasonToReject { try optional.write(value) }, reason)
        try optional.write(nil)
    }

    @Test(arguments: [
        ("", "the length 0 is outside 1...3"), ("abc", nil), ("äöü", nil), ("abcd", "the length 4 is outside 1...3"),
    ])
    func lengthCountsCharactersAndElements(value: String, reason: String?) throws {
        let name = Preference("name", default: "a", .length(1...3), in: store)
        try same(reasonToReject { try name.write(value) }, reason)
        let optional = Preference<String?>("name", .length(1...3), in: store)
        try same(reasonToReject { try optional.write(value) }, reason)
        let list = Preference("list", default: ["a"], .length(1...3), in: store)
        try same(reasonToReject { try list.write(value.map { String($0) }) }, reason)
    }

    @Test
    func dateThatIsNoNumberIsOutsideEachRangeAndCanBeShown() throws {
        let none = Date(timeIntervalSinceReferenceDate: .nan)
        let first = Date(timeIntervalSinceReferenceDate: 0)
        let since = Preference("since", default: first, .range(first...), in: store)
        try same(reasonToReject { try since.write(none) }?.hasPrefix("nan is outside 2001-01-01"), true)
        let until = Preference<Date?>("until", .range(...first), in: store)
        try same(reasonToReject { try until.write(none) }?.hasPrefix("nan is outside ...2001-01-01"), true)
        let chosen = Preference("chosen", default: first, .choices([first]), in: store)
        try same(reasonToReject { try chosen.write(none) }?.hasPrefix("nan is not one of 2001-01-01"), true)
        let free = Preference<Date?>("free", in: store)
        try free.write(none)
        same(free.description, "free = nan (store)")
    }

    @Test
    func rangeMayBeOpenAtOneEnd() throws {
        let least = Preference("a", default: 5, .range(1...), in: store)
        try same(reasonToReject { try least.write(0) }, "0 is outside 1...")
        try same(reasonToReject { try least.write(.max) }, nil)
        let greatest = Preference<Double?>("b", .range(...1), in: store)
        try same(reasonToReject { try greatest.write(1.5) }, "1.5 is outside ...1.0")
        let filled = Preference<String?>("c", .length(1...), in: store)
        try same(reasonToReject { try filled.write("") }, "the length 0 is outside 1...")
        let longest = Preference("e", default: "", .length(1...Int.max), in: store)
        try same(reasonToReject { try longest.write("") }, "the length 0 is outside 1...")
        let all = Preference<String?>("f", .length(...Int.max), in: store)
        try same(reasonToReject { try all.write("") }, nil)
        let short = Preference("d", default: [1], .length(..<3), in: store)
        try same(reasonToReject { try short.write([1, 2, 3]) }, "the length 3 is outside 0...2")
        let rules = [AnyPreference(least), AnyPreference(greatest), AnyPreference(filled)].flatMap(\.rules)
        same(rules.map(\.description), ["1...", "...1.0", "length 1..."])
        #expect(rules.map(\.minimum) == [1, nil, 1] && rules.map(\.maximum) == [nil, 1.0, nil])
    }

    @Test
    func closureTakesTheOptionalOrTheWrappedValue() throws {
        let required = Preference<Int?>("a", default: 1, .check { $0 != nil }, in: store)
        #expect(try reasonToReject { try required.write(nil) } != nil)
        let even = Preference<Int?>("b", .check { $0.isMultiple(of: 2) }, in: store)
        try same(reasonToReject { try even.write(nil) }, nil)
        try same(reasonToReject { try even.write(3) }, "3 is rejected by the preference's rule")
    }

    @Test
    func everyFormOfDeclarationHasItsRuleAndDescription() throws {
        struct Group: PreferenceGroup {
            @Preference("a", .range(0...10), .description("wrapped")) var wrapped = 5
            @Preference("b", coding: .jsonString, .range(0...10), .description("coded")) var coded = 5
            @Preference("c", .choices([.dark]), .description("raw")) var raw = Look.dark
            let plain = Preference("d", default: 0.5, .range(0...1), .description("plain"))
            @Preference(Self.declared) var elsewhere
            static let declared = Preference("e", default: 5, .range(0...10), .description("declared"), in: .inMemory())
        }
        let group = Group(in: store)
        #expect(try reasonToReject { try group.$wrapped.write(11) } != nil)
        #expect(try reasonToReject { try group.$coded.write(11) } != nil)
        #expect(try reasonToReject { try group.$raw.write(.light) } != nil)
        #expect(try reasonToReject { try group.plain.write(1.5) } != nil)
        #expect(try reasonToReject { try group.$elsewhere.write(11) } != nil)
        same(group.$elsewhere, Group.declared)
        let bound = group.$wrapped.bound(to: .inMemory())
        #expect(try reasonToReject { try bound.write(11) } != nil)
        same(bound.declaredDescription, "wrapped")
        same(group.preferences.map(\.declaredDescription), ["wrapped", "coded", "raw", "plain", "declared"])
    }

    private enum Look: String { case light, dark }

    /// Returns the reason in the error that a write throws, or `nil` if it doesn't throw.
    private func reasonToReject(_ write: () throws -> Void) throws -> String? {
        do {
            try write()
            return nil
        } catch let error as PreferenceError where error.code == .invalid {
            return String(error.message.prefix { $0 != ";" })
        }
    }
}
