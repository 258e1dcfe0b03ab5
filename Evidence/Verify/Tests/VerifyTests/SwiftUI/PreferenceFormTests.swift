import Foundation
import SwiftUI
import Synchronization
import Testing

@testable import Preferences
@testable import PreferencesEditing

private enum Quality: Int, CaseIterable, Sendable {
    case low, high
}

private enum Speed: String, CaseIterable, Sendable, CustomStringConvertible {
    case slow, fast
    var description: String { self == .slow ? "Walking" : "Running" }
}

private struct Station: Codable, Sendable {
    var name = "A"
}

private struct FormPreferences: PreferenceGroup {
    @Preference("showsArtist", .section("View"), .description("In the list.")) var showsArtist = true
    @Preference("volume", .title("Loudness"), .section("Sound"), .range(0...10)) var volume = 5
    @Preference("balance", .section("Sound"), .range(-1...1)) var balance: Float = 0
    @Preference("delay", .section("Sound"), .range(0...2000)) var delay = 0
    @Preference("quality", .section("Sound")) var quality = Quality.low
    @Preference("user.name") var userName = "Pitt"
    @Preference("maxURLCount") var maxURLCount = 3
    @Preference("theme", .section("View"), .choices(["light", "dark"])) var theme = "light"
    @Preference("speed", .section("View")) var speed: Speed?
}

extension PreferenceCoding where Value == Color {
    fileprivate static var redAndBlue: PreferenceCoding {
        PreferenceCoding("redAndBlue") { color in
            let parts = color.resolve(in: EnvironmentValues())
            return [.real(Double(parts.red)), .real(Double(parts.blue))]
        } decode: { stored in
            let parts = try [Double](storedValue: stored)
            return Color(red: parts[0], green: 0, blue: parts[1])
        }
    }
}

private struct OtherPreferences: PreferenceGroup {
    @Preference("isOn") var isOn: Bool?
    @Preference("level", .range(1...3)) var level: Int?
    @Preference("start") var start = Date(timeIntervalSinceReferenceDate: 0)
    @Preference("end") var end: Date?
    @Preference("accent", coding: .redAndBlue) var accent = Color.blue
    @Preference("token", .secret) var token: String?
    @Preference("nickname", .length(2...8)) var nickname: String?
    @Preference("station") var station = Station()
    @Preference("tags") var tags = ["a"]
    @Preference("home") var home: URL?
    @Preference("old", .deprecated("set level")) var old = 1
    @Preference("even", .check("must be even") { $0.isMultiple(of: 2) }) var even = 2
}

private final class Issues: Sendable {
    private let all = Mutex<[PreferenceError.Code]>([])
    var codes: [PreferenceError.Code] { all.withLock { $0 } }

    init(in store: PreferenceStore) {
        store.issueHandler = { [weak self] error in self?.all.withLock { $0.append(error.code) } }
    }
}

@MainActor
private final class Changes {
    var all: [Float] = []
    var count = 0
}

@MainActor
struct PreferenceFormTests {
    private let store = PreferenceStore.inMemory()

    private func host(_ preference: Preference<some Sendable>) -> SwiftUI.Host {
        SwiftUI.Host(PreferenceField(preference))
    }

    @Test
    func formHasSectionsTitlesAndControlsInOrderOfDeclaration() {
        let host = Host(PreferenceForm(FormPreferences(in: store)))
        #expect(
            host.outline == [
                "# View", "Toggle Shows artist = true", "In the list.",
                #"Picker Theme = Optional("light") of light, dark"#,
                "Picker Speed = nil of Not set, Walking, Running",
                "# Sound", "Stepper 0...10 Loudness: 5 = 5", "Balance: 0.0", "Slider -1.0...1.0 Balance = 0.0",
                "Delay: 0", "Slider 0.0...2000.0 by 1.0 Delay = 0.0", "Picker Quality = Optional(0) of Low, High",
                "# ", "User name", "TextField User name = Pitt", "Max URL count", "TextField Max URL count = 3",
            ]
        )
    }

    @Test
    func changeOfAFieldEvaluatesItAlone() {
        let preferences = FormPreferences(in: store)
        let host = Host(PreferenceForm(preferences))
        let bodies = host.bodies
        #expect(bodies["PreferenceForm"] == 1)
        #expect(bodies["PreferenceField"] == 9)
        preferences.volume = 7
        host.update()
        #expect(host.shown(in: "Loudness: 7") == Int64(7))
        #expect(host.bodies["PreferenceForm"] == 1)
        #expect(host.bodies["PreferenceField"] == 10)
        host.enter(false, into: "Shows artist")
        host.update()
        host.update()
        #expect(!preferences.showsArtist)
        #expect(host.bodies["PreferenceField"] == 11)
        host.update(to: PreferenceForm(preferences))
        #expect(host.bodies["PreferenceForm"] == 2)
        #expect(host.bodies["PreferenceField"] == 11)
    }

    @Test
    func controlsSetTheirPreferences() {
        let preferences = FormPreferences(in: store)
        let host = Host(PreferenceForm(preferences))
        host.enter(Int64(8), into: "Loudness: 5")
        host.enter(0.25, into: "Balance")
        host.enter(1200.4, into: "Delay")
        host.enter(PropertyListValue?.some(1), into: "Quality")
        host.enter(PropertyListValue?.some("dark"), into: "Theme")
        host.enter(PropertyListValue?.some("fast"), into: "Speed")
        #expect(preferences.volume == 8)
        #expect(preferences.balance == 0.25)
        #expect(preferences.delay == 1200)
        #expect(preferences.quality == .high)
        #expect(preferences.theme == "dark")
        #expect(preferences.speed == .fast)
        host.update()
        host.enter(PropertyListValue?.none, into: "Speed")
        #expect(preferences.speed == nil)
        #expect(store["speed"] == nil)
    }

    @Test
    func draggedSliderIsSetOnceAtTheEnd() {
        let preferences = FormPreferences(in: store)
        let host = Host(PreferenceForm(preferences))
        let changes = Changes()
        let observation = preferences.$balance.observe { changes.all.append($0.new) }
        host.drag("Balance", through: [0.25, 0.5, 0.75], isEnded: false)
        host.update()
        #expect(host.texts.contains("Balance: 0.75"))
        #expect(changes.all == [])
        host.release("Balance")
        #expect(changes.all == [0.75])
        host.drag("Balance", through: [], isEnded: true)
        host.drag("Balance", through: [0.5], isEnded: false)
        host.disappear()
        #expect(changes.all == [0.75, 0.5])
        observation.cancel()
    }

    /// A control that shows another preference's field before the drag's end.
    @Test
    func dragKeepsNoValueOfAnotherPreference() {
        let preferences = FormPreferences(in: store)
        func editor(_ preference: any EditablePreference) -> FieldEditor {
            FieldEditor(
                preference: preference,
                history: Binding {
                    FieldHistory()
                } set: { _, _ in
                }
            )
        }
        let (balance, delay) = (editor(preferences.$balance), editor(preferences.$delay))
        var drag = FieldDrag(editor: balance)
        let isKept = [drag.keep(0.25, in: balance), drag.keep(0.5, in: delay)]
        #expect(isKept == [true, false])
        #expect(drag.value(in: balance) == 0.25)
        #expect(drag.value(in: delay) == nil)
    }

    @Test
    func textIsSetWhenItIsSubmittedOrTheFieldLosesTheFocus() {
        let preferences = FormPreferences(in: store)
        let host = Host(PreferenceForm(preferences))
        host.enter("Jo", into: "User name")
        host.update()
        #expect(preferences.userName == "Pitt")
        host.submit("User name")
        host.update()
        #expect(preferences.userName == "Jo")
        host.enter("Al", into: "User name")
        host.update()
        host.leave("User name")
        host.update()
        #expect(preferences.userName == "Al")
        host.enter(" 12", into: "Max URL count")
        host.submit("Max URL count")
        host.update()
        #expect(preferences.maxURLCount == 12)
        host.enter("many", into: "Max URL count")
        host.submit("Max URL count")
        host.update()
        #expect(preferences.maxURLCount == 12)
        #expect(
            host.outline.suffix(2) == [
                "TextField Max URL count = many", #"expected Int, found string "many"."#,
            ]
        )
        host.enter("13", into: "Max URL count")
        host.submit("Max URL count")
        host.update()
        #expect(host.outline.last == "TextField Max URL count = 13")
    }

    @Test
    func rejectedValueIsShownWithTheReasonAndReported() {
        let issues = Issues(in: store)
        let preferences = OtherPreferences(in: store)
        let host = host(preferences.$even)
        host.enter("3", into: "Even")
        host.submit("Even")
        host.update()
        #expect(preferences.even == 2)
        #expect(
            host.outline == [
                "Even", "TextField Even = 3", #"3 is rejected by the rule "must be even"; nothing was changed."#,
            ]
        )
        #expect(issues.codes == [.invalid])
        #expect(host.choose("Reset", inMenuOf: "Even") == false)
    }

    @Test
    func optionalsHaveAWayToSetNil() {
        let preferences = OtherPreferences(in: store)
        let isOn = host(preferences.$isOn)
        #expect(isOn.outline == ["Picker Is on = nil of Not set, Off, On"])
        isOn.enter(PropertyListValue?.some(true), into: "Is on")
        #expect(preferences.isOn == true)
        let level = host(preferences.$level)
        level.enter(true, into: "Level")
        level.update()
        #expect(preferences.level == 1)
        #expect(level.outline == ["Toggle Level = true", "Stepper 1...3 Level: 1 = 1"])
        level.enter(false, into: "Level")
        #expect(preferences.level == nil)
        let nickname = host(preferences.$nickname)
        nickname.enter("Jo", into: "Nickname")
        nickname.submit("Nickname")
        #expect(preferences.nickname == "Jo")
        nickname.update()
        nickname.enter("", into: "Nickname")
        nickname.submit("Nickname")
        #expect(preferences.nickname == nil)
    }

    @Test
    func dateAndColorHaveTheirPickersWhicheverCodingStoresThem() {
        let preferences = OtherPreferences(in: store)
        let date = Date(timeIntervalSinceReferenceDate: 100)
        let start = host(preferences.$start)
        start.enter(date, into: "Start")
        #expect(preferences.start == date)
        let end = host(preferences.$end)
        #expect(end.outline == ["Toggle End = false"])
        end.enter(true, into: "End")
        end.update()
        end.enter(date, into: "End")
        #expect(preferences.end == date)
        let coded = Preference(
            "coded",
            default: Date(timeIntervalSinceReferenceDate: 0),
            coding: PreferenceCoding("seconds") {
                .real($0.timeIntervalSinceReferenceDate)
            } decode: {
                Date(timeIntervalSinceReferenceDate: try Double(storedValue: $0))
            },
            in: store
        )
        host(coded).enter(date, into: "Coded")
        #expect(store["coded"] == 100.0)
    }

    @Test
    func pickedColorIsSetOnceAfterAPause() async {
        let preferences = OtherPreferences(in: store)
        let changes = Changes()
        let observation = preferences.$accent.observe { _ in changes.count += 1 }
        let accent = Host(PreferenceField(preferences.$accent).environment(\.colorPause, .zero))
        for red in [0.25, 0.5, 1] {
            accent.enter(Color(red: red, green: 0, blue: 0), into: "Accent")
            accent.update()
        }
        #expect(accent.shown(in: "Accent") == Color(red: 1, green: 0, blue: 0))
        #expect(store["accent"] == nil)
        await accent.finishTasks()
        #expect(store["accent"] == [1.0, 0.0])
        #expect(changes.count == 1)
        accent.enter(Color(red: 0, green: 0, blue: 0), into: "Accent")
        accent.update()
        accent.disappear()
        #expect(store["accent"] == [0.0, 0.0])
        await accent.finishTasks()
        #expect(changes.count == 2)
        observation.cancel()
    }

    @Test
    func secretIsSetAndNeverShown() {
        let preferences = OtherPreferences(in: store)
        let host = host(preferences.$token)
        #expect(host.outline == ["Token", "SecureField Token =  of Not set"])
        host.enter("12345", into: "Token")
        host.submit("Token")
        host.update()
        #expect(preferences.token == "12345")
        #expect(host.outline == ["Token", "SecureField Token =  of Set"])
        host.enter("", into: "Token")
        host.leave("Token")
        host.update()
        #expect(preferences.token == "12345")
        #expect(host.choose("Reset", inMenuOf: "Token"))
        #expect(preferences.token == nil)
    }

    @Test
    func otherTypesAreEditedAsTheFileHasThem() {
        let preferences = OtherPreferences(in: store)
        let station = host(preferences.$station)
        #expect(station.outline.last == #"TextField Station = {"name":"A"}"#)
        station.enter(#"{"name":"B"}"#, into: "Station")
        station.submit("Station")
        #expect(preferences.station.name == "B")
        let tags = host(preferences.$tags)
        tags.enter(#"["b","c"]"#, into: "Tags")
        tags.submit("Tags")
        #expect(preferences.tags == ["b", "c"])
        let home = host(preferences.$home)
        home.enter("https://example.com", into: "Home")
        home.submit("Home")
        home.update()
        #expect(preferences.home == URL(string: "https://example.com"))
        #expect(home.outline.last == "TextField Home = https://example.com")
    }

    @Test
    func valueThatCannotBeUsedIsShownAsSuchAndCanBeReset() {
        let preferences = FormPreferences(in: store)
        store["volume"] = "loud"
        let host = host(preferences.$volume)
        #expect(
            host.outline == [
                "Stepper 0...10 Loudness: 5 = 5",
                #"The stored value can't be used: expected Int, found string "loud"; the stored value is kept."#,
            ]
        )
        #expect(host.choose("Reset", inMenuOf: "Loudness: 5"))
        host.update()
        #expect(host.outline == ["Stepper 0...10 Loudness: 5 = 5"])
        #expect(store["volume"] == nil)
    }

    @Test
    func managedPreferenceIsDisabledWithTheReason() {
        let managed = PreferenceStore(layers: [
            .inMemory(),
            PreferenceStore(
                Layer(source: Source(["volume": 9]), name: "policy", isReadOnly: true, isManaged: true)
            ),
            .inMemory(["delay": 3]).readOnly(named: "site"),
        ])
        let preferences = FormPreferences(in: managed)
        #expect(
            host(preferences.$volume).outline == [
                "Stepper 0...10 Loudness: 9 = 9, disabled", "Managed by an administrator, so it can't be changed here.",
            ]
        )
        #expect(host(preferences.$delay).outline.last == "The value comes from the layer site.")
    }

    @Test
    func deprecatedPreferenceIsHiddenUntilItHasAValue() {
        let preferences = OtherPreferences(in: store)
        let host = host(preferences.$old)
        #expect(host.outline.isEmpty)
        store["old"] = 2
        host.update()
        #expect(host.outline == ["Old", "TextField Old = 2", "Deprecated: set level."])
    }

    @Test
    func fieldsFollowTheStoreOfTheEnvironment() {
        let preferences = FormPreferences(in: store)
        let preview = PreferenceStore.inMemory(["volume": 3])
        let host = Host(PreferenceForm(preferences).preferenceStore(preview))
        host.enter(Int64(4), into: "Loudness: 3")
        host.update()
        #expect(host.shown(in: "Loudness: 4") == Int64(4))
        #expect(preview["volume"] == 4)
        #expect(store["volume"] == nil)
        preview["volume"] = 6
        host.update()
        #expect(host.shown(in: "Loudness: 6") == Int64(6))
    }

    @Test(arguments: [
        ("AutomaticallyUpdate", "Automatically update"), ("user.name", "User name"), ("proxyURL", "Proxy URL"),
        ("URLCount", "URL count"), ("max_size-2", "Max size 2"), ("volume", "Volume"), ("éTude", "É tude"), ("…", "…"),
    ])
    func titleIsMadeOfTheName(_ name: String, _ title: String) {
        #expect(name.titleOfName == title)
    }
}
