import Foundation
import Preferences
import TestSupport
import Testing

private typealias Tool = Evolving.Tool
private typealias NativeTool = Evolving.NativeTool
private typealias Figure = Evolving.Figure
private typealias Part = Evolving.Part
private typealias Window = Evolving.Window
private typealias Item = Evolving.Item
private typealias Plain = Evolving.Plain
private typealias Derived = Evolving.Derived
private typealias Tolerant = Evolving.Tolerant

/// Values that an older or newer version has stored, as this version reads them.
struct EvolvingReadTests {
    @Test
    func memberThatIsNotStoredIsTheDefaults() throws {
        let (store, issues) = Evolving.recorded(["frame": ["x": 3, "y": 4, "width": 200]])
        let frame = Preference("frame", default: Window(height: 70, inner: Part(scale: 5)), in: store)
        same(frame.value, Window(x: 3, y: 4, width: 200, height: 70, inner: Part(scale: 5)))
        try same(frame.read(), frame.value)
        #expect(issues.elements.isEmpty)
        frame[\.x].value += 1
        #expect(store["frame"]?[member: "width"] == 200 && frame.value.x == 4)
    }

    @Test
    func nestedMemberThatIsNotStoredIsTheDefaults() {
        let (store, issues) = Evolving.recorded(["frame": ["x": 3, "y": 4, "width": 200, "inner": ["scale": 9]]])
        let frame = Preference("frame", default: Window(inner: Part(tool: .search)), in: store)
        same(frame.value.inner, Part(scale: 9, tool: .search))
        #expect(issues.elements.isEmpty)
    }

    @Test
    func memberThatCannotBeDecodedIsTheDefaultsAndReportedOnce() {
        let (store, issues) = Evolving.recorded([
            "frame": [
                "x": 3, "y": "four", "width": 200, "tool": "gone", "note": 5, "inner": ["scale": 2, "tool": "gone"],
            ]
        ])
        let frame = Preference("frame", default: Window(), in: store)
        for _ in 0..<2 { same(frame.value, Window(x: 3, width: 200, inner: Part(scale: 2))) }
        _ = Preference("frame", default: Window(), in: store).value
        same(issues.elements.map(\.code), [.unreadable, .unreadable, .unreadable, .unreadable])
        same(Set(issues.elements.map(\.codingPath)), [["y"], ["tool"], ["note"], ["inner", "tool"]])
        same(
            issues.elements.first { $0.codingPath == ["y"] }?.description,
            "preference \"frame\" at y: expected Int, found string \"four\"; the default of this member is used and "
                + "the stored value is kept"
        )
        same(store["frame"]?[member: "tool"], "gone")
    }

    @Test
    func valueOfAnotherKindIsUnreadable() {
        let (store, issues) = Evolving.recorded(["frame": "text"])
        same(Preference("frame", default: Window(x: 1), in: store).value, Window(x: 1))
        same(issues.elements.map(\.code), [.unreadable])
    }

    @Test
    func elementThatCannotBeDecodedIsLeftOutAndKept() throws {
        let (store, issues) = Evolving.recorded([
            "coded": ["tree", "gone", "search"], "native": ["tree", "gone", "search"], "set": ["gone", "tree"],
            "nativeSet": ["gone", "tree"], "dictionary": ["a": "tree", "b": "gone"],
            "nested": [["gone"], ["tree", "gone"]],
            "optional": ["tree", "gone"], "keys": ["tree": 1, "gone": 2],
        ])
        let coded = Preference("coded", default: [Tool](), in: store)
        let native = Preference("native", default: [NativeTool](), in: store)
        same(coded.value, [.tree, .search])
        same(native.value, [.tree, .search])
        same(issues.elements.map(\.codingPath), [["1"], ["1"]])
        #expect(issues.elements.allSatisfy { $0.description.contains("this element is left out and the stored value") })
        same(Preference("set", default: Set<Tool>(), in: store).value, [.tree])
        same(Preference("nativeSet", default: Set<NativeTool>(), in: store).value, [.tree])
        same(Preference("dictionary", default: [String: Tool](), in: store).value, ["a": .tree])
        same(Preference("dictionary", default: [String: NativeTool](), in: store).value, ["a": .tree])
        same(Preference("nested", default: [[NativeTool]](), in: store).value, [[], [.tree]])
        same(Preference("optional", default: [Tool]?.none, in: store).value, [.tree])
        same(Preference("keys", default: [Tool: Int](), in: store).value, [.tree: 1])
        coded.value.append(.outline)
        native.value.append(.outline)
        #expect(store["coded"] == ["tree", "gone", "search", "outline"] && store["native"] == store["coded"])
        Preference("set", default: Set<Tool>(), in: store).value.insert(.outline)
        #expect(store["set"] == ["gone", "outline", "tree"] || store["set"] == ["gone", "tree", "outline"])
        Preference("dictionary", default: [String: NativeTool](), in: store).value["c"] = .search
        same(store["dictionary"], ["a": "tree", "b": "gone", "c": "search"])
    }

    @Test
    func manyElementsAreOneReport() {
        let elements = (0..<10_000).map { PropertyListValue.string($0.isMultiple(of: 2) ? "tree" : "gone \($0)") }
        let (store, issues) = Evolving.recorded(["tools": .array(elements)])
        same(Preference("tools", default: [Tool](), in: store).value.count, 5_000)
        same(issues.elements.map(\.codingPath), [["1"]])
        same(issues.elements.first?.message.contains("this element and 4999 others are left out"), true)
    }

    @Test
    func elementsBringTheirOwnDefaults() {
        let (store, issues) = Evolving.recorded([
            "items": [["id": 1], ["id": 2, "title": "two", "tools": ["gone", "tree"]], "three"],
            "plain": [["name": "a"], ["name": "b", "size": 2]],
        ])
        same(
            Preference("items", default: [Item](), in: store).value,
            [Item(id: 1), Item(id: 2, title: "two", tools: [.tree])]
        )
        same(Set(issues.elements.map(\.codingPath)), [["2"], ["1", "tools", "0"]])
        same(Preference("plain", default: [Plain](), in: store).value, [Plain(name: "b", size: 2)])
    }

    @Test
    func codersStrategiesStayInForce() {
        struct Event: Codable, Equatable {
            var at = Date(timeIntervalSince1970: 0)
            var until: Date?
            var data = Data([1])
            var url = URL(string: "https://example.com")
            var repeats = [Date]()
            var isDone = false
        }
        let coding = PreferenceCoding<Event>.json("iso") {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            return encoder
        } decoder: {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
        let text =
            #"{"at":"2026-11-25T00:00:00Z","until":"2026-11-26T00:00:00Z","data":"AAE=","repeats":["2026-11-25T00:00:00Z"]}"#
        let (store, _) = Evolving.recorded(["event": .data(Data(text.utf8))])
        let event = Preference("event", default: Event(isDone: true), coding: coding, in: store).value
        let date = Date(timeIntervalSince1970: 1_795_564_800)
        same(event, Event(at: date, until: date + 86_400, data: Data([0, 1]), url: nil, repeats: [date], isDone: true))
    }

    @Test
    func payloadOfAnEnumIsFilledForTheSameCaseAlone() {
        struct Drawing: Codable, Equatable {
            var shape = Figure.circle(radius: 3)
            var name = "a"
        }
        let (store, issues) = Evolving.recorded([
            "same": ["shape": ["circle": [:] as PropertyListValue]], "other": ["shape": ["square": ["side": 2]]],
            "gone": ["shape": ["hexagon": ["side": 2]], "name": "b"],
        ])
        same(Preference("same", default: Drawing(), in: store).value, Drawing())
        same(Preference("other", default: Drawing(), in: store).value, Drawing(shape: .square(side: 2)))
        #expect(issues.elements.isEmpty)
        let gone = Preference("gone", default: Drawing(), in: store)
        same(gone.value, Drawing(name: "b"))
        same(issues.elements.map(\.codingPath), [["shape"]])
        gone.value.name = "c"
        same(store["gone"], ["shape": ["hexagon": ["side": 2]], "name": "c"])
        gone.value.shape = .square(side: 7)
        same(store["gone"], ["shape": ["square": ["side": 7]], "name": "c"])
    }

    @Test
    func errorThatTheTypeCatchesIsItsOwn() {
        let (store, issues) = Evolving.recorded(["tolerant": ["width": "12"]])
        var expected = Tolerant()
        expected.width = 12
        same(Preference("tolerant", default: Tolerant(), in: store).value, expected)
        #expect(issues.elements.isEmpty)
    }

    @Test
    func textIsUsedWholeOrNotAtAll() {
        let user = PreferenceStore.inMemory()
        let store = PreferenceStore.layered([
            .arguments([
                "--frame", #"{"x": 3}"#, "--bad", #"{"x": 3, "y": "four"}"#, "--tools", #"["tree", "gone"]"#,
            ]), user,
        ])
        store.issueHandler = { _ in }
        same(Preference("frame", default: Window(width: 7), in: store).value, Window(x: 3, width: 7))
        same(Preference("bad", default: Window(width: 7), in: store).value, Window(width: 7))
        same(Preference("tools", default: [Tool.outline], in: store).value, [.outline])
    }

    @Test
    func ruleAppliesToTheEvolvedValue() {
        let (store, issues) = Evolving.recorded(["frame": ["x": 3, "y": 4]])
        let frame = Preference("frame", default: Window(), .check("must be wide") { $0.width > 100 }, in: store)
        same(frame.value, Window())
        same(issues.elements.map(\.code), [.invalid])
    }
}
