import Foundation
import Preferences
import TestSupport
import Testing

private typealias Window = Evolving.Window
private typealias Part = Evolving.Part
private typealias Item = Evolving.Item
private typealias Renamed = Evolving.Renamed

/// Sets over values of another version.
struct EvolvingWriteTests {
    private static let later: PropertyListValue = [
        "x": 1, "y": 2, "width": 3, "height": 4, "tool": "tree", "inner": ["scale": 5, "tool": "tree", "future": 6],
        "future": ["a": 7],
    ]

    private enum Form: CaseIterable {
        case set, write, writeAsync, update, transaction, member, anyPreference, anyPreferenceAsync
    }

    @Test(arguments: StoreKind.allCases)
    func unknownMembersAreKept(kind: StoreKind) async throws {
        try await kind.withStore { store in
            for form in Form.allCases {
                store["frame"] = Self.later
                let frame = Preference("frame", default: Window(), in: store)
                var new = frame.value
                new.x = 10
                new.inner.scale = 50
                switch form {
                case .set: frame.value = new
                case .write: try { try frame.write(new) }()
                case .writeAsync: try await frame.write(new)
                case .update: try { try frame.update { $0 = new } }()
                case .transaction: try { try store.transaction { $0[frame] = new } }()
                case .member:
                    frame[\.x].value = 10
                    frame[\.inner][\.scale].value = 50
                case .anyPreference: try { try AnyPreference(frame).write(PropertyListValue(encoding: new)) }()
                case .anyPreferenceAsync: try await AnyPreference(frame).write(PropertyListValue(encoding: new))
                }
                var expected = Self.later
                expected[member: "x"] = 10
                expected[member: "inner"]?[member: "scale"] = 50
                same(store["frame"], expected, "\(form)")
                same(frame.value, new)
            }
        }
    }

    @Test
    func memberThatCannotBeDecodedIsKeptUntilItIsSet() {
        let (store, _) = Evolving.recorded(["frame": ["x": 1, "tool": "gone"]])
        let frame = Preference("frame", default: Window(), in: store)
        frame.value.x = 2
        same(store["frame"]?[member: "tool"], "gone")
        frame.value = Window(x: 2)
        same(store["frame"]?[member: "tool"], "gone")
        frame[\.tool].value = .tree  // what is shown already
        same(store["frame"]?[member: "tool"], "tree")
    }

    @Test
    func memberThatIsRemovedIsRemoved() {
        let (store, _) = Evolving.recorded(["frame": ["x": 1, "note": "a", "future": 1]])
        let frame = Preference("frame", default: Window(), in: store)
        frame.value.note = nil
        #expect(store["frame"]?[member: "note"] == nil && store["frame"]?[member: "future"] == 1)
        frame.reset()
        same(store["frame"], nil)
    }

    @Test
    func jsonTextsKeepUnknownMembersAndNumbers() throws {
        let text = #"{"x":1,"future":{"big":12345678901234567890123,"null":null,"list":[1,2.5,"a",null],"$data":"b"}}"#
        let (store, _) = Evolving.recorded(["data": .data(Data(text.utf8)), "string": .string(text)])
        Preference("data", default: Window(), coding: .json, in: store).value.x = 2
        Preference("string", default: Window(), coding: .jsonString, in: store).value.x = 2
        guard case .data(let data) = store["data"], case .string(let string) = store["string"] else {
            Issue.record("another form")
            return
        }
        same(String(decoding: data, as: UTF8.self), string)
        #expect(
            string.contains(
                #""future":{"$data":"b","big":12345678901234567890123,"list":[1,2.5,"a",null],"null":null}"#
            )
        )
        #expect(string.contains(#""x":2"#))
    }

    @Test
    func keyStrategyNamesMembersAsTheyAreStored() {
        struct Pane: Codable, Equatable { var windowWidth = 0, byName = ["a_b": 1] }
        let snake = PreferenceCoding<Pane>.snake
        let (store, _) = Evolving.recorded([
            "w": .data(Data(#"{"window_width":3,"by_name":{"a_b":1},"is_later":true}"#.utf8))
        ])
        Preference("w", default: Pane(), coding: snake, in: store).value.windowWidth = 4
        same(store["w"], .data(Data(#"{"by_name":{"a_b":1},"is_later":true,"window_width":4}"#.utf8)))
    }

    @Test
    func memberThatTheTypePrefersIsLeftOut() {
        let (store, _) = Evolving.recorded(["size": ["w": 5, "height": 6, "future": 7]])
        let size = Preference("size", default: Renamed(), in: store)
        same(size.value, Renamed(width: 5, height: 6))
        size.value.width = 8
        same(size.value, Renamed(width: 8, height: 6))
        same(store["size"], ["width": 8, "height": 6, "future": 7])
        let many = Dictionary(uniqueKeysWithValues: (0..<2_000).map { ("future \($0)", PropertyListValue.integer(1)) })
        store["size"] = .dictionary(many.merging(["w": 5, "height": 6]) { $1 })
        size.value.width = 9
        same(store["size"], .dictionary(many.merging(["width": 9, "height": 6]) { $1 }))
    }

    @Test
    func weakerLayersMembersAreKept() {
        let user = PreferenceStore.inMemory()
        let store = PreferenceStore.layered([user, .inMemory(["frame": Self.later]).readOnly(named: "system")])
        Preference("frame", default: Window(), in: store).value.x = 10
        #expect(user["frame"]?[member: "future"] == ["a": 7] && user["frame"]?[member: "x"] == 10)
    }

    @Test
    func formerValuesMembersAreKept() {
        let (store, _) = Evolving.recorded(["window": Self.later])
        Preference("frame", default: Window(), .formerly("window"), in: store).value.x = 10
        #expect(store["frame"]?[member: "future"] == ["a": 7] && store["window"] == nil)
    }

    @Test
    func elementsWithTheSameIdentityKeepTheirUnknownMembers() {
        let (store, _) = Evolving.recorded([
            "items": [
                ["id": 1, "title": "a", "future": 1], "hole", ["id": 2, "title": "b", "tools": ["gone"], "future": 2],
            ]
        ])
        let items = Preference("items", default: [Item](), in: store)
        same(items.value.map(\.id), [1, 2])
        items.value.swapAt(0, 1)
        items.value[0].title = "B"
        items.value.append(Item(id: 3))
        #expect(
            store["items"] == [
                ["id": 2, "title": "B", "tools": ["gone"], "future": 2],
                ["id": 1, "title": "a", "tools": [] as PropertyListValue, "future": 1], "hole",
                ["id": 3, "title": "untitled", "tools": [] as PropertyListValue],
            ]
                || store["items"] == [
                    ["id": 2, "title": "B", "tools": ["gone"], "future": 2], ["id": 1, "title": "a", "future": 1],
                    "hole",
                    ["id": 3, "title": "untitled", "tools": [] as PropertyListValue],
                ]
        )
    }
}
