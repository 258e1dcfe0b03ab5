import Foundation
import Preferences
import TestSupport
import Testing

private typealias Window = Evolving.Window
private typealias Item = Evolving.Item
private typealias Renamed = Evolving.Renamed
private typealias Tool = Evolving.Tool
private typealias NativeTool = Evolving.NativeTool

/// Values whose form, or whose type, makes it hard to say which part of what is stored is which.
struct EvolvingCombinationTests {
    private enum Edge: String, Codable { case left, right, top }
    private struct Pin: Codable, Hashable { var id: Int, title: String }

    @Test
    func setStoredInAnotherOrderKeepsItsElements() {
        let (store, _) = Evolving.recorded([
            "pins": .array((1...5).reversed().map { ["id": .integer($0), "title": "t", "color": .integer($0)] })
        ])
        let pins = Preference("pins", default: Set<Pin>(), in: store)
        var new = pins.value.filter { $0.id != 2 && $0.id != 4 }
        new.insert(Pin(id: 2, title: "b"))
        pins.value = new
        guard case .array(let elements)? = store["pins"] else { return }
        same(elements.count, 4)
        #expect(elements.allSatisfy { $0[member: "color"] == $0[member: "id"] })
    }

    @Test
    func typeThatLeavesElementsOutItselfKeepsThem() {
        struct Tolerant: Codable, Equatable {
            var tools: [Tool] = []
            init() {}
            init(from decoder: any Decoder) throws {
                struct Failable: Decodable {
                    var tool: Tool?
                    init(from decoder: any Decoder) throws { tool = try? Tool(from: decoder) }
                }
                tools = try [Failable](from: decoder).compactMap(\.tool)
            }
            func encode(to encoder: any Encoder) throws { try tools.encode(to: encoder) }
        }
        let (store, _) = Evolving.recorded(["tools": ["tree", "gone", "search"]])
        Preference("tools", default: Tolerant(), in: store).value.tools.append(.outline)
        same(store["tools"], ["tree", "gone", "search", "outline"])
    }

    @Test
    func elementsOfDictionariesAreFilled() {
        let (store, issues) = Evolving.recorded([
            "items": ["a": ["id": 1]], "lists": ["a": [["id": 1]]], "tools": ["a": ["tree", "gone"]],
            "native": ["a": ["tree", "gone"]],
        ])
        same(Preference("items", default: [String: Item](), in: store).value, ["a": Item(id: 1)])
        same(Preference("lists", default: [String: [Item]](), in: store).value, ["a": [Item(id: 1)]])
        #expect(issues.elements.isEmpty)
        Preference("tools", default: [String: [Tool]](), in: store).value["a"]?.append(.search)
        same(store["tools"], ["a": ["tree", "gone", "search"]])
        Preference("native", default: [String: [NativeTool]](), in: store).value["a"]?.append(.search)
        same(store["native"], ["a": ["tree", "gone", "search"]])
    }

    @Test
    func memberThatIsSetIsTheOneOfItsPath() {
        struct Inner: Codable, Equatable { var x = 0, note: String? }
        struct Outer: Codable, Equatable {
            var x = 0, note: String?
            var inner = Inner()
            var other = Inner()
            enum CodingKeys: String, CodingKey { case x, note, inner, other = "second" }
        }
        let later: PropertyListValue = [
            "x": "a", "note": 1, "inner": ["x": "b", "note": 2], "second": ["x": "c", "note": 3],
        ]
        func expectChange(_ path: [String], to new: PropertyListValue?, _ set: (Preference<Outer>) -> Void) {
            let (store, _) = Evolving.recorded(["value": later])
            set(Preference("value", default: Outer(), in: store))
            var expected = later
            if path.count == 1 {
                expected[member: path[0]] = new
            } else {
                expected[member: path[0]]?[member: path[1]] = new
            }
            same(store["value"], expected, "\(path)")
        }
        expectChange(["x"], to: 0) { $0[\.x].value = 0 }
        expectChange(["inner", "x"], to: 0) { $0[\.inner.x].value = 0 }
        expectChange(["inner", "x"], to: 0) { $0[\.inner][\.x].value = 0 }
        expectChange(["note"], to: nil) { $0[\.note].value = nil }
        expectChange(["inner", "note"], to: nil) { $0[\.inner.note].value = nil }
        expectChange(["second", "x"], to: 4) { $0[\.other.x].value = 4 }
    }

    @Test
    func severalMembersThatATypePrefersAreLeftOut() {
        let elements = (0..<300).map { ["w": .integer($0), "height": 1, "future": .integer($0)] as PropertyListValue }
        let (store, _) = Evolving.recorded(["sizes": .array(elements)])
        let sizes = Preference("sizes", default: [Renamed](), in: store)
        var new = sizes.value
        for index in new.indices { new[index].width += 1_000 }
        new[7].height = 3
        store["sizes"] = .array(
            elements.map { element in
                var element = element
                element[member: "id"] = element[member: "w"]
                return element
            }
        )
        sizes.value = new
        same(sizes.value, new)
    }

    @Test
    func numbersThatDecimalsDoNotHaveAreKept() {
        let text = #"{"x":1,"future":1e+300,"tiny":5e-324}"#
        let (store, _) = Evolving.recorded(["frame": .data(Data(text.utf8)), "other": .string(#"{"x":1,"note":null}"#)])
        Preference("frame", default: Window(), coding: .json, in: store).value.x = 2
        guard case .data(let data)? = store["frame"] else { return }
        let stored = String(decoding: data, as: UTF8.self)
        #expect(stored.contains(#""future":1e+300"#) && stored.contains(#""tiny":5e-324"#))
        // Another library's form, read by a coding that has no null.
        let other = Preference("other", default: Window(), in: store)
        other.value.x = 2
        #expect(other.value == Window(x: 2) && store["other"]?[member: "note"] == nil)
    }

    @Test
    func keyStrategyKeepsElementsThatWereLeftOut() {
        struct Panel: Codable, Equatable {
            var myTools: [Tool] = []
            var mainTool = Tool.tree
        }
        let snake = PreferenceCoding<Panel>.snake
        let (store, _) = Evolving.recorded([
            "panel": .data(Data(#"{"main_tool":"gone","my_tools":["tree","gone"]}"#.utf8))
        ])
        let panel = Preference("panel", default: Panel(), coding: snake, in: store)
        panel.value.myTools.append(.search)
        same(store["panel"], .data(Data(#"{"main_tool":"gone","my_tools":["tree","gone","search"]}"#.utf8)))
        panel[\.mainTool].value = .tree
        same(store["panel"], .data(Data(#"{"main_tool":"tree","my_tools":["tree","gone","search"]}"#.utf8)))
    }

    @Test
    func migrationKeepsWhatIsNotUnderstood() {
        let (store, _) = Evolving.recorded([
            "old": ["x": 1, "future": 2, "tool": "gone"], "tools": ["tree", "gone", "search"],
        ])
        Preference("new", default: Window(), in: store).migrate(from: "old")
        #expect(store["new"] == ["x": 1, "future": 2, "tool": "gone"] && store["old"] == nil)
        Preference("list", default: [Tool](), in: store).migrate(
            from: Preference("tools", default: [Tool](), in: store)
        )
        #expect(store["list"] == ["tree", "gone", "search"] && store["tools"] == nil)
    }

    @Test
    func migrationInPlaceLeavesTheNewForm() {
        struct Old: Codable { var volume = 5 }
        struct New: Codable, Equatable { var level = 0.0, name = "n", isOn = true }
        let (store, issues) = Evolving.recorded([
            "a": ["level": 0.7, "name": "mine"], "b": ["volume": 3, "future": 1],
        ])
        for name in ["a", "b"] {
            Preference(name, default: New(), in: store)
                .migrate(from: Preference(name, default: Old(), in: store)) { New(level: Double($0.volume) / 10) }
        }
        #expect(store["a"] == ["level": 0.7, "name": "mine"] && issues.elements.isEmpty)
        same(store["b"], ["level": 0.3, "name": "n", "isOn": true, "future": 1])
    }
}
