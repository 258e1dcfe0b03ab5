import Preferences
import PreferencesTesting
import TestSupport
import Testing

// The code of the guide to evolving values, and a test for each row of its table.

private enum Windows {
    // snippet: evolving member
    nonisolated struct WindowFrame: Codable {
        var x = 0, y = 0, width = 800
        var isPinned = false  // new: frames that version 1 has stored are read with false
    }

    struct AppPreferences: PreferenceGroup {
        @Preference("frame") var frame = WindowFrame()
    }
    // end
}

private enum Bookmarks {
    // snippet: evolving elements
    struct Bookmark: EvolvingValue {
        var id = 0
        var title = "Untitled"
        var isPinned = false  // new
    }

    struct BookmarkPreferences: PreferenceGroup {
        @Preference("bookmarks") var bookmarks: [Bookmark] = []
    }
    // end
}

// snippet: evolving key
struct Size: Codable {
    var width = 800

    enum CodingKeys: CodingKey { case width, w }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        width = try container.decode(Int.self, forKey: container.contains(.w) ? .w : .width)  // version 1 wrote "w"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(width, forKey: .width)
    }
}
// end

private enum Renamed {
    // snippet: evolving case
    enum Theme: String, Codable, CodingKeyRepresentable {
        case light, midnight

        init?(rawValue: String) {
            switch rawValue {
            case "light": self = .light
            case "midnight", "dark": self = .midnight  // version 1 wrote "dark"
            default: return nil
            }
        }
    }
    // end
}

private enum FirstMode: String, Codable { case plain, wide }
private enum SecondMode: String, Codable { case plain, wide, tall }

/// A value of the older version, and of the newer one.
private struct First: Codable, Equatable {
    var width = 800
    var mode = FirstMode.plain
}
private struct Second: Codable, Equatable {
    var width = 800
    var mode = SecondMode.plain
    var height = 600
    var title: String?
}

@Suite(.isolatedStores)
struct EvolvingGuideTests {
    private let store = PreferenceStore.standard
    private var first: Preference<First> { Preference("value", default: First(), in: store) }
    private var second: Preference<Second> { Preference("value", default: Second(), in: store) }

    @Test
    func newMemberIsRead() {
        store["frame"] = ["x": 1, "y": 2, "width": 3, "later": true]
        // snippet: evolving use
        let app = AppPreferences()
        app.frame.x += 10  // stores x; what a newer version has added stays
        // end
        same(store["frame"], ["x": 11, "y": 2, "width": 3, "later": true, "isPinned": false])
        store["bookmarks"] = [["id": 1]]
        same(BookmarkPreferences().bookmarks.first?.title, "Untitled")
    }

    @Test
    func storedValuesAreUsedWithoutTheirType() throws {
        // snippet: how stored value
        let frame = try PropertyListValue(encoding: WindowFrame())
        PreferenceStore.standard["window"] = frame
        PreferenceStore.standard["window"]?[member: "width"] = 1024
        let width: Int? = try PreferenceStore.standard["window"]?[member: "width"]?.decode()
        // end
        same(width, 1024)
        try same(store["window"]?.decode(WindowFrame.self).width, 1024)
    }

    @Test
    func memberIsRemovedByAMigration() throws {
        store["frame"] = ["x": 1, "isPinned": true]
        // snippet: evolving removal
        let steps = [
            PreferenceMigration(2) { values in
                values["frame"]?[member: "isPinned"] = nil
            }
        ]
        try PreferenceStore.standard.migrate(to: 2, steps: steps)
        // end
        same(store["frame"], ["x": 1])
    }

    // MARK: The table

    @Test
    func addedMember() {
        store["value"] = ["width": 1, "mode": "wide"]
        same(second.value, Second(width: 1, mode: .wide))
        second.value.height = 2
        same(first.value, First(width: 1, mode: .wide))
        first.value.width = 3
        same(second.value, Second(width: 3, mode: .wide, height: 2))
    }

    @Test
    func removedMemberStaysUntilAMigration() {
        store["value"] = ["width": 1, "mode": "wide", "height": 2]
        first.value.width = 3
        same(store["value"]?[member: "height"], 2)
        store["value"]?[member: "height"] = nil
        same(second.value.height, 600)
    }

    @Test
    func renamedMember() {
        store["size"] = ["w": 5]
        let size = Preference("size", default: Size(), in: store)
        same(size.value.width, 5)
        size.value.width = 6
        #expect(store["size"] == ["width": 6] && size.value.width == 6)
    }

    @Test
    func renamedCase() {
        typealias Theme = Renamed.Theme
        struct Themes: Codable, Equatable { var main = Theme.light }
        store["theme"] = "dark"
        same(Preference("theme", default: Theme.light, in: store).value, .midnight)
        store["list"] = ["dark", "light"]
        let list = Preference("list", default: [Theme](), in: store)
        same(list.value, [.midnight, .light])
        same(Preference("list", default: Set<Theme>(), in: store).value, [.midnight, .light])
        list.value.append(.light)
        same(Preference("list", default: [Theme](), in: store).value, [.midnight, .light, .light])
        store["keys"] = ["dark": 1]
        same(Preference("keys", default: [Theme: Int](), in: store).value, [.midnight: 1])
        store["member"] = ["main": "dark"]
        same(Preference("member", default: Themes(), in: store).value, Themes(main: .midnight))
    }

    @Test
    func renamedPreference() {
        // Its own store: both versions declare the name here, which is reported in each isolated store of the standard one.
        let store = PreferenceStore.inMemory()
        store.issueHandler = { _ in }
        store["old"] = 5
        let renamed = Preference("new", default: 0, .formerly("old"), in: store)
        same(renamed.value, 5)
        renamed.value = 6
        same(Preference("old", default: 1, in: store).value, 1)
    }

    @Test
    func changedTypeOfAMember() {
        store.issueHandler = { #expect($0.code == .unreadable && $0.codingPath == ["width"]) }
        store["value"] = ["width": "wide", "mode": "wide"]
        same(first.value, First(mode: .wide))
        first.value.mode = .plain
        same(store["value"], ["width": "wide", "mode": "plain"])
        first.value.width = 3
        same(store["value"]?[member: "width"], 3)
    }

    @Test
    func addedCase() {
        store.issueHandler = { _ in }
        store["value"] = ["width": 1, "mode": "tall"]
        store["modes"] = ["tall", "wide"]
        first.value.width = 2
        #expect(first.value == First(width: 2) && second.value == Second(width: 2, mode: .tall))
        let modes = Preference("modes", default: [FirstMode](), in: store)
        modes.value.append(.plain)
        #expect(modes.value == [.wide, .plain] && store["modes"] == ["tall", "wide", "plain"])
    }

    @Test
    func memberMadeOptional() {
        struct Optional: Codable { var width: Int? = 5 }
        store["value"] = ["width": 1]
        let optional = Preference("value", default: Optional(), in: store)
        same(optional.value.width, 1)
        optional.value.width = nil
        same(first.value.width, 800)
    }

    @Test
    func listOfOneValueNeedsAMigration() throws {
        store.issueHandler = { same($0.code, .unreadable) }
        store["theme"] = "dark"
        let themes = Preference("theme", default: ["light"], in: store)
        same(themes.value, ["light"])
        try store.migrate(
            to: 2,
            steps: [PreferenceMigration(2) { transaction in transaction["theme"] = transaction["theme"].map { [$0] } }]
        )
        same(themes.value, ["dark"])
    }
}

private typealias AppPreferences = Windows.AppPreferences
private typealias BookmarkPreferences = Bookmarks.BookmarkPreferences
