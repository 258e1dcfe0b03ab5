import Foundation
import SwiftUI
import Testing

@testable import Preferences
@testable import PreferencesEditing

private struct Frame: Codable, Sendable {
    enum Style: String, Codable, Sendable { case plain, bold }
    var style = Style.plain
    var width = 3
}

private struct FieldPreferences: PreferenceGroup {
    @Preference("pin", .secret) var pin = 0
    @Preference("hidden", .secret) var hidden = false
    @Preference("tags") var tags = ["a"]
    @Preference("any") var any: PropertyListValue = 5
    @Preference("name") var name = "Pitt"
    @Preference("count", .range(0...)) var count = 1
    @Preference("volume", .range(0...10)) var volume = 5
    @Preference("share", coding: .percent, .range(0...1)) var share = 0.5
    @Preference("color", coding: .hex, .choices([10, 255])) var color = 10
    @Preference("frame") var frame = Frame()
    @Preference("start") var start = Date(timeIntervalSinceReferenceDate: 0.1)
    @Preference("day", .range(Date(timeIntervalSinceReferenceDate: 0)...Date(timeIntervalSinceReferenceDate: 60)))
    var day: Date?
    @Preference("even", .range(1...9), .check("must be even") { $0.isMultiple(of: 2) }) var even: Int?
    @Preference("never", .range(1...9), .check("must be 20") { $0 == 20 }) var never: Int?
    @Preference("needed", .required, .range(1...9)) var needed: Int?
    @Preference("decided", .required) var decided: Bool?
    @Preference("tint", coding: .name) var tint: Color?
    @Preference("poem") var poem = "a\nb"
    @Preference("token", .secret) var token: String?
}

extension PreferenceCoding where Value == Color? {
    fileprivate static var name: PreferenceCoding {
        PreferenceCoding("name") {
            $0.map { .string($0 == .blue ? "blue" : "other") }
        } decode: { _ in
            .blue
        }
    }
}

extension PreferenceCoding where Value == Double {
    fileprivate static var percent: PreferenceCoding {
        PreferenceCoding("percent") {
            .real($0 * 100)
        } decode: {
            try Double(storedValue: $0) / 100
        }
    }
}

extension PreferenceCoding where Value == Int {
    fileprivate static var hex: PreferenceCoding {
        PreferenceCoding("hex") {
            .string(String($0, radix: 16))
        } decode: {
            Int(try String(storedValue: $0), radix: 16)
        }
    }
}

/// The values that fields show and set, beyond the simple cases.
@MainActor
struct PreferenceFieldTests {
    private let store = PreferenceStore.inMemory()
    private var preferences: FieldPreferences { FieldPreferences(in: store) }

    private func host(_ preference: Preference<some Sendable>) -> SwiftUI.Host {
        SwiftUI.Host(PreferenceField(preference))
    }

    private func type(_ text: String, into title: String, of host: SwiftUI.Host) {
        host.enter(text, into: title)
        host.submit(title)
        host.update()
    }

    @Test
    func rejectedTextOfASecretIsNotShown() {
        let host = host(preferences.$pin)
        type("12a4", into: "Pin", of: host)
        #expect(host.outline.last == "expected Int, found <redacted>.")
        #expect(preferences.pin == 0)
        let hidden = self.host(preferences.$hidden)
        type("true", into: "Hidden", of: hidden)
        #expect(preferences.hidden)
        type("off", into: "Hidden", of: hidden)
        #expect(!preferences.hidden)
    }

    @Test(arguments: ["", #"["b","c""#, "b", "[null]", #"["b"] x"#])
    func malformedListChangesNothing(_ text: String) {
        let preferences = preferences
        let host = host(preferences.$tags)
        type(text, into: "Tags", of: host)
        #expect(preferences.tags == ["a"])
        #expect(host.outline.count == 3)
        type("[“b”]", into: "Tags", of: host)
        #expect(preferences.tags == ["b"])
        #expect(host.outline.count == 2)
    }

    @Test
    func valueOfAnyKindKeepsItsKind() {
        let preferences = preferences
        let host = host(preferences.$any)
        type("6", into: "Any", of: host)
        #expect(store["any"] == 6)
        type(#""6""#, into: "Any", of: host)
        #expect(store["any"] == "6")
        #expect(host.outline.last == #"TextField Any = "6""#)
    }

    @Test
    func rulesOfACodedValueAreThoseOfItsType() {
        let preferences = preferences
        let share = host(preferences.$share)
        #expect(share.outline.last == "Slider 0.0...1.0 Share = 0.5")
        share.enter(0.25, into: "Share")
        #expect(store["share"] == 25.0)
        let color = host(preferences.$color)
        #expect(color.outline.last == "Picker Color = Optional(10) of 10, 255")
        color.enter(PropertyListValue?.some(255), into: "Color")
        #expect(store["color"] == "ff")
    }

    @Test
    func draftEndsWithAReset() {
        let host = host(preferences.$name)
        type("Jo", into: "Name", of: host)
        host.enter("Al", into: "Name")
        host.update()
        #expect(host.choose("Reset", inMenuOf: "Name"))
        host.update()
        #expect(host.outline.last == "TextField Name = Pitt")
        host.leave("Name")
        host.update()
        #expect(store["name"] == nil)
    }

    @Test
    func draftBelongsToThePreferenceInWhoseFieldItWasTyped() {
        let other = PreferenceStore.inMemory(["name": "B"])
        let host = host(preferences.$name)
        host.enter("A", into: "Name")
        host.update()
        host.update(to: PreferenceField(FieldPreferences(in: other).$name))
        #expect(host.outline.last == "TextField Name = B")
        host.leave("Name")
        host.update()
        #expect(other["name"] == "B")
        #expect(store["name"] == "A")
    }

    @Test
    func rejectedDraftEndsWhenTheValueIsAnother() {
        let preferences = preferences
        let host = host(preferences.$count)
        type("-2", into: "Count", of: host)
        #expect(host.outline.count == 3)
        #expect(host.shown(in: "Count") == "-2")
        preferences.count = 7
        host.update()
        #expect(host.outline.suffix(1) == ["TextField Count = 7"])
    }

    @Test
    func rejectedDraftIsSetOnce() {
        var rejections = 0
        store.issueHandler = { _ in MainActor.assumeIsolated { rejections += 1 } }
        let host = host(preferences.$count)
        type("-2", into: "Count", of: host)
        host.leave("Count")
        host.update()
        #expect(rejections == 1)
    }

    @Test
    func draftIsSetWhenTheFieldDisappears() {
        let host = host(preferences.$name)
        host.enter("Al", into: "Name")
        host.update()
        host.disappear()
        #expect(preferences.name == "Al")
    }

    @Test
    func memberIsEditedByItsTypeOrNotAtAll() {
        let preferences = preferences
        let width = host(preferences.$frame[\.width])
        let style = host(preferences.$frame[\.style])
        #expect(width.outline.last?.hasSuffix(" = 3") == true)
        type("4", into: "Frame", of: width)
        #expect(preferences.frame.width == 4)
        #expect(style.outline.last == "A part of another preference, so it can't be changed here.")
        #expect(style.outline.allSatisfy { !$0.contains("TextField") || $0.hasSuffix(", disabled") })
    }

    @Test
    func resetThatIsNotPossibleIsDisabledOrSaysWhy() {
        let managed = PreferenceStore(layers: [
            .inMemory(["volume": 3]),
            PreferenceStore(
                Layer(source: Source(["volume": 9]), name: "policy", isReadOnly: true, isManaged: true)
            ),
        ])
        #expect(!host(FieldPreferences(in: managed).$volume).choose("Reset", inMenuOf: "Volume: 9"))
        let failing = PreferenceStore(Layer(source: Source(FullBackend())))
        var issues: [PreferenceError.Code] = []
        failing.issueHandler = { error in MainActor.assumeIsolated { issues.append(error.code) } }
        let host = host(FieldPreferences(in: failing).$volume)
        #expect(host.choose("Reset", inMenuOf: "Volume: 3"))
        host.update()
        #expect(host.outline.last == "the disk is full.")
        #expect(issues == [.notPermitted])
    }

    @Test
    func firstValueOfAnOptionalIsOneThatTheRulesAllow() {
        let preferences = preferences
        let day = host(preferences.$day)
        day.enter(true, into: "Day")
        day.update()
        #expect(preferences.day == Date(timeIntervalSinceReferenceDate: 60))
        #expect(day.outline.count == 2)
        let even = host(preferences.$even)
        even.enter(true, into: "Even")
        #expect(preferences.even == 2)
        #expect(host(preferences.$never).outline == ["Never", "TextField Never = "])
    }

    @Test
    func missingRequiredValueIsNotShownAsOne() {
        let preferences = preferences
        let needed = host(preferences.$needed)
        #expect(needed.outline == ["Toggle Needed = false"])
        needed.enter(true, into: "Needed")
        needed.update()
        #expect(needed.outline == ["Stepper 1...9 Needed: 1 = 1"])
        #expect(host(preferences.$decided).outline == ["Picker Decided = nil of Not set, Off, On"])
    }

    @Test
    func colorHasItsPickerWhateverStoresIt() {
        let preferences = preferences
        let tint = host(preferences.$tint)
        #expect(tint.outline == ["Toggle Tint = false"])
        tint.enter(true, into: "Tint")
        tint.update()
        #expect(store["tint"] == "blue")
        #expect(tint.control("Tint", of: Color.self) != nil)
        tint.enter(false, into: "Tint")
        #expect(store["tint"] == nil)
    }

    @Test
    func textOfSeveralLinesHasAFieldOfLines() {
        #expect(host(preferences.$poem).outline.last == "TextField of lines Poem = a\nb")
    }

    @Test
    func secretOfAWeakerLayerIsShownAsSet() {
        let layered = PreferenceStore(layers: [.inMemory(), .inMemory(["token": "t"]).readOnly(named: "site")])
        let host = host(FieldPreferences(in: layered).$token)
        #expect(host.outline[1] == "SecureField Token =  of Set")
    }

    @Test
    func resetIsAnActionForAssistiveTechnologies() {
        store["name"] = "Al"
        let host = host(preferences.$name)
        #expect(host.perform("Reset", on: "Name"))
        #expect(store["name"] == nil)
    }

    @Test
    func textThatAFieldShowsStandsForTheValue() throws {
        for preference in FieldPreferences(in: store).preferences
        where !preference.isSecret && !preference.base.isRequired {
            let field = try #require(preference.base as? any EditablePreference)
            let form = field.form()
            #expect(field.set(text: field.fieldText(of: form)) == nil, "\(preference)")
            #expect(field.form() == form, "\(preference)")
        }
        #expect(preferences.$start.fieldText(of: preferences.$start.form()) == "2001-01-01T00:00:00.1Z")
    }

    @Test
    func readOnlyStoreIsDisabled() {
        let readOnly = PreferenceStore(layers: [.inMemory(["volume": 3]).readOnly(named: "site")])
        let host = host(FieldPreferences(in: readOnly).$volume)
        #expect(
            host.outline == [
                "Stepper 0...10 Volume: 3 = 3, disabled", "The store is read-only, so it can't be changed here.",
            ]
        )
    }
}

/// A backend that rejects each change.
private final class FullBackend: Backend {
    let place = "the test"

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        [StoredChange("volume", 3)]
    }
    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }
    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        throw PreferenceError(.notPermitted, "the disk is full")
    }
}
