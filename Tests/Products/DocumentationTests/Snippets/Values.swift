import Observation
import Preferences
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// snippet: value kinds
enum Sorting: String { case name, date }  // by its raw value, here as "name"
struct Frame: Codable { var x = 0, y = 0 }  // as {"x":0,"y":0}
enum Zoom: Int, Codable { case whole = 100, half = 50 }  // by its raw value, though it is Codable too

struct ViewerPreferences: PreferenceGroup {
    @Preference("sorting") var sorting = Sorting.name
    @Preference("frame") var frame = Frame()
    @Preference("zoom") var zoom = Zoom.whole
    @Preference("folder") var folder: URL?
    @Preference("recent") var recent: [URL] = []
    @Preference("columns") var columns: [String: Frame] = [:]
    @Preference("opened") var opened = Date.now  // evaluated at each read while nothing is stored
}
// end

// snippet: own value
struct Temperature: PreferenceValue {
    var celsius: Double

    init(celsius: Double) { self.celsius = celsius }
    init(storedValue: PropertyListValue) throws { celsius = try Double(storedValue: storedValue) }
    func storedValue() throws -> PropertyListValue? { .real(celsius) }
}
// end

// snippet: own coding
extension PreferenceCoding where Value == Frame {
    static let compact = PreferenceCoding(
        "compact",
        encode: { .string("\($0.x),\($0.y)") },
        decode: { stored in
            let parts = try String(storedValue: stored).split(separator: ",").compactMap { Int($0) }
            guard parts.count == 2 else { throw PreferenceError(.unreadable, "expected two numbers") }
            return Frame(x: parts[0], y: parts[1])
        }
    )
}
// end

// snippet: json coders
extension PreferenceCoding where Value: Codable & Sendable {
    static var isoJSON: PreferenceCoding {
        .json(
            "iso",
            encoder: {
                let encoder = JSONEncoder()
                encoder.dateEncodingStrategy = .iso8601
                encoder.outputFormatting = .sortedKeys
                return encoder
            },
            decoder: {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .iso8601
                return decoder
            }
        )
    }
}
// end

// snippet: nested groups
struct EditorPreferences: PreferenceGroup {
    @Preference("editor.font") var font = "Serif"
    let spelling = SpellingPreferences()
}

struct SpellingPreferences: PreferenceGroup {
    @Preference("editor.spelling.language") var language = Locale(identifier: "en")
}
// end

// snippet: places
struct AccountPreferences: PreferenceGroup {
    @Preference("name") var name = ""
    @Preference("licence", in: .suite("com.example.licences")) var licence: String?
}
// end

// snippet: classes
@Observable
final class Model {
    @ObservationIgnored @Preference("sorting") var sorting = Sorting.name
    let zoom = Preference("zoom", default: Zoom.whole)
    var selection = 0
}

final class Session: Sendable {
    let isFirstLaunch = Preference("isFirstLaunch", default: true)
    static let count = Preference("count", default: 0)
}

actor Counter: PreferenceGroup {
    @Preference("count") var count = 0
    func increment() { count += 1 }
}
// end

// snippet: main actor by default
nonisolated struct Position: Codable { var x = 0 }

struct ScreenPreferences: PreferenceGroup {
    @Preference("position") var position = Position()
}

nonisolated let screen = ScreenPreferences()
// end

struct ValuesSnippets {
    @Test
    func valuesAreStoredAsShown() throws {
        let store = PreferenceStore.inMemory()
        let preferences = ViewerPreferences(in: store)
        preferences.sorting = preferences.sorting
        preferences.frame = preferences.frame
        preferences.zoom = .half
        preferences.recent = [URL(filePath: "/tmp/a")]
        preferences.columns = ["a": Frame(x: 1)]
        same(
            store.contents,
            [
                "sorting": "name", "frame": ["x": 0, "y": 0], "zoom": 50, "recent": ["file:///tmp/a"],
                "columns": ["a": ["x": 1, "y": 0]],
            ]
        )
    }

    @Test
    func formsAreOnePreference() throws {
        let output = Output()
        let print = output.print
        PreferenceStore.withIsolatedStores {
            // snippet: three forms
            struct WindowPreferences: PreferenceGroup {
                @Preference("width") var width = 800
                let height = Preference("height", default: 600)
            }

            let window = WindowPreferences()
            window.width = 900  // a property
            window.height.value = 700  // a plain value
            print(window.$width.name, window.$width.isSet)  // width true
            window.$width.reset()
            print(window.width, window.$width.isSet)  // 800 false
            // end
        }
        try same(output.lines, Snippet.shownOutput(of: "three forms"))
    }

    @Test
    func optionalIsNotSet() throws {
        let output = Output()
        let print = output.print
        PreferenceStore.withIsolatedStores {
            // snippet: optionals
            let nickname = Preference<String?>("nickname")
            nickname.value = "Pitt"
            nickname.value = nil  // removes
            print(nickname.isSet)  // false

            let port = Preference<Int?>("port", default: 8080)
            port.value = nil
            print(port.value ?? 0)  // 8080
            // end
        }
        try same(output.lines, Snippet.shownOutput(of: "optionals"))
    }

    @Test
    func valuesAreValidated() throws {
        let output = Output()
        let print = output.print
        let store = PreferenceStore.inMemory()
        store.issueHandler = { output.print($0) }
        // snippet: validation
        let volume = Preference("volume", default: 5, .range(0...10), in: store)
        let nickname = Preference<String?>("nickname", .length(1...8), in: store)
        let port = Preference("port", default: 8080, .check { $0 != 80 }, in: store)
        volume.value = 11  // rejected and reported
        do {
            try nickname.write("Montgomery")
        } catch {
            print(error.message)  // the length 10 is outside 1...8; nothing was changed
        }
        print(volume.value, nickname.value ?? "-", port.value)  // 5 - 8080
        // end
        same(output.lines.first, "preference \"volume\": 11 is outside 0...10; nothing was changed")
        #expect(output.lines.dropFirst().elementsEqual(try Snippet.shownOutput(of: "validation")))
    }

    private struct Columns: PreferenceGroup {
        // snippet: describing a declaration
        @Preference("spacing", .range(0...64), .description("Points between two columns")) var spacing = 8
        // end
    }

    @Test
    func descriptionIsTheDeclarations() {
        same(Columns(in: .inMemory()).$spacing.declaredDescription, "Points between two columns")
    }

    @Test
    func secretsAreRedacted() throws {
        let output = Output()
        let print = output.print
        let store = PreferenceStore.inMemory()
        // snippet: secrets of a declaration
        let token = Preference<String?>("token", .secret, in: store)
        token.value = "hunter2"
        print(token, token.value ?? "-")  // token = <redacted> (store) hunter2
        // end
        try same(output.lines, Snippet.shownOutput(of: "secrets of a declaration"))
    }

    @Test
    func membersAreSetInTheNewestValue() throws {
        let output = Output()
        let print = output.print
        let store = PreferenceStore.inMemory()
        // snippet: members
        let frame = Preference("frame", default: Frame(), in: store)
        let x = frame[\.x]
        let observation = x.observe { print("x: \($0.old) → \($0.new)") }
        x.value += 40
        frame.value.y = 5  // no change of x
        print(store["frame"] ?? "")
        // x: 0 → 40
        // {"x": 40, "y": 5}
        // end
        try same(output.lines, Snippet.shownOutput(of: "members"))
        observation.cancel()
    }

    // snippet: listed group
    struct PlayerSettings: PreferenceGroup {
        @Preference("volume", .range(0...10), .description("How loud it is")) var volume = 5
        @Preference("theme") var theme = Theme.light
    }
    // end

    @Test
    func groupsAreListed() throws {
        let output = Output()
        let print = output.print
        // snippet: listing
        let player = PlayerSettings(in: .inMemory(["volume": 3]))
        for preference in player.preferences {
            print("\(preference): \(preference.rules)")
        }
        player.reset()
        print(player.volume)
        // volume = 3 (store): [0...10]
        // theme = light (default): ["system", "light", "dark"]
        // 5
        // end
        try same(output.lines, Snippet.shownOutput(of: "listing"))
    }

    @Test
    func groupsUnderTwoPrefixesShareNothing() throws {
        let output = Output()
        let print = output.print
        // snippet: scopes
        let store = PreferenceStore.inMemory()
        let ada = AccountPreferences(in: store.scoped("account", id: "1"))
        let pitt = AccountPreferences(in: store.scoped("account", id: "2"))
        ada.name = "Ada"
        pitt.name = "Pitt"
        print(store.names)  // ["account.1.name", "account.2.name"]
        // end
        try same(output.lines, Snippet.shownOutput(of: "scopes"))
    }

    @Test
    func ownOptionsAreExtensions() {
        let mixer = MixerPreferences(in: .inMemory())
        mixer.$balance.store.issueHandler = { _ in }
        mixer.balance = 101
        same(mixer.balance, 50)
    }

    @Test
    func formerNamesAreRead() throws {
        let output = Output()
        let print = output.print
        // snippet: former names
        let store = PreferenceStore.inMemory(["telemetry": false])
        let sendReports = Preference("sendReports", default: true, .formerly("telemetry"), in: store)
        print(sendReports.value, store.names)  // false ["telemetry"]
        sendReports.value = false
        print(store.names)  // ["sendReports"]
        // end
        try same(output.lines, Snippet.shownOutput(of: "former names"))
    }

    @Test
    func codingsChooseTheForm() throws {
        let output = Output()
        let print = output.print
        // snippet: codings
        let store = PreferenceStore.inMemory()
        let nested = Preference("a", default: Frame(), in: store)
        let text = Preference("b", default: Frame(), coding: .jsonString, in: store)
        let own = Preference("c", default: Frame(), coding: .compact, in: store)
        for frame in [nested, text, own] {
            frame.value.x = 10
            print(frame.storedValue ?? "")
        }
        // {"x": 10, "y": 0}
        // "{\"x\":10,\"y\":0}"
        // "10,0"
        // end
        try same(output.lines, Snippet.shownOutput(of: "codings"))
        store["c"] = "10"
        #expect(throws: PreferenceError.self) { try own.read() }
    }

    @Test
    func codersOfChoiceStoreJSON() throws {
        let store = PreferenceStore.inMemory()
        let dates = Preference("dates", default: [Date](), coding: .isoJSON, in: store)
        dates.value = [Date(timeIntervalSince1970: 0)]
        same(store["dates"], .data(Data(#"["1970-01-01T00:00:00Z"]"#.utf8)))
        try same(dates.read(), [Date(timeIntervalSince1970: 0)])
    }

    @Test
    func ownTypeIsStoredAsItSays() throws {
        let temperature = Preference(
            "temperature",
            default: Temperature(celsius: 20),
            in: .inMemory(["temperature": 5])
        )
        same(temperature.value.celsius, 5)
        temperature.value = Temperature(celsius: 6.5)
        same(temperature.storedValue, 6.5)
    }

    @Test
    func groupIsMadeOverAnotherStore() throws {
        let output = Output()
        let print = output.print
        PreferenceStore.withIsolatedStores {
            // snippet: groups over stores
            let store = PreferenceStore.inMemory()
            let preview = EditorPreferences(in: store)
            preview.font = "Mono"
            preview.spelling.language = Locale(identifier: "de")
            print(store.names)  // ["editor.font", "editor.spelling.language"]

            let account = AccountPreferences(in: store)
            account.licence = "free"  // keeps the store that it names
            print(store["licence"] == nil)  // true
            // end
        }
        try same(output.lines, Snippet.shownOutput(of: "groups over stores"))
    }

    @Test
    func classesHoldPreferences() async {
        await PreferenceStore.withIsolatedStores {
            let model = Model()
            model.sorting = .date
            model.zoom.value = .half
            Session().isFirstLaunch.value = false
            Session.count.value = 1
            let counter = Counter()
            await counter.increment()
            screen.position.x = 5
            same(
                PreferenceStore.standard.contents,
                [
                    "sorting": "date", "zoom": 50, "isFirstLaunch": false, "count": 2, "position": ["x": 5],
                ]
            )
        }
    }
}

// snippet: own option
extension PreferenceOption where Value == Int {
    static var percentage: Self { .range(0...100) }
}

struct MixerPreferences: PreferenceGroup {
    @Preference("balance", .percentage, .title("Balance")) var balance = 50
}
// end
