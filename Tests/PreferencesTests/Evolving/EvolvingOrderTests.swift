import Foundation
import Preferences
import TestSupport
import Testing

/// Sets, and dictionaries that JSON has as a list of keys and values: both have another order in each text.
struct EvolvingOrderTests {
    private enum Edge: String, Codable { case left, right, top, bottom }
    private struct Panel: Codable { var size = 0 }

    private struct Tab: Codable {
        var panels: [Edge: Panel] = [:]
        var tags: Set<String> = []
    }
    private struct Layout: Codable {
        var x = 0
        var tabs: [Tab] = []
        var named: [String: [Edge: Panel]] = [:]
        var lists: [[Edge: Panel]] = []
        var snakeCase: [Edge: Panel] = [:]
    }

    /// The text of a dictionary of panels.
    private static func pairs(_ keys: [String], sizes: [String: Int] = [:]) -> String {
        "[\(keys.map { #""\#($0)",{"future":"\#($0)","size":\#(sizes[$0] ?? 1)}"# }.joined(separator: ","))]"
    }

    private static let orders = [
        ["left", "gone", "right", "top"], ["top", "right", "left", "gone"], ["gone", "top", "left", "right"],
    ]

    @Test(arguments: orders)
    func dictionaryKeepsWhatIsUnknownOfIt(order: [String]) throws {
        let stored = Self.pairs(order)
        let (store, _) = Evolving.recorded(["data": .data(Data(stored.utf8)), "text": .string(stored)])
        let data = Preference("data", default: [Edge: Panel](), coding: .json, in: store)
        let text = Preference("text", default: [Edge: Panel](), coding: .jsonString, in: store)
        for panels in [data, text] {
            panels.value = [.right: Panel(size: 2), .left: Panel(size: 3), .bottom: Panel(size: 4)]
        }
        guard case .data(let bytes) = store["data"], case .string(let string) = store["text"] else {
            Issue.record("another form")
            return
        }
        let kept = Self.pairs(order.filter { $0 != "top" }, sizes: ["right": 2, "left": 3]).dropLast()
        same(string, kept + #","bottom",{"size":4}]"#)
        same(String(decoding: bytes, as: UTF8.self), string)
    }

    @Test(arguments: orders)
    func partsOfOthersStayAsTheyAre(order: [String]) throws {
        let pairs = Self.pairs(order)
        let tab = #"{"future":true,"panels":\#(pairs),"tags":["a","b","c"]}"#
        let lists = #""lists":[\#(pairs),\#(pairs)],"named":{"a":\#(pairs)}"#
        let (store, _) = Evolving.recorded(["layout": .string(#"{\#(lists),"tabs":[\#(tab),\#(tab)],"x":1}"#)])
        let layout = Preference("layout", default: Layout(), coding: .jsonString, in: store)
        layout.value.x = 2
        same(store["layout"], .string(#"{\#(lists),"snakeCase":[],"tabs":[\#(tab),\#(tab)],"x":2}"#))
        layout[\.x].value = 3
        same(store["layout"], .string(#"{\#(lists),"snakeCase":[],"tabs":[\#(tab),\#(tab)],"x":3}"#))
    }

    @Test(arguments: orders)
    func innerPartsAreMerged(order: [String]) throws {
        let pairs = Self.pairs(order)
        let stored = #"{"lists":[\#(pairs),\#(pairs)],"named":{"a":\#(pairs)},"tabs":[{"panels":\#(pairs),"tags":[]}]}"#
        let (store, _) = Evolving.recorded(["layout": .string(stored)])
        let layout = Preference("layout", default: Layout(), coding: .jsonString, in: store)
        var new = layout.value
        new.lists[1][.left]?.size = 5
        new.named["a"]?[.right]?.size = 6
        new.named["a"]?[.left]?.size = 7
        new.tabs[0].panels[.top] = nil
        layout.value = new
        guard case .string(let text) = store["layout"] else {
            Issue.record("another form")
            return
        }
        #expect(text.contains(#""lists":[\#(pairs),\#(Self.pairs(order, sizes: ["left": 5]))]"#))
        #expect(text.contains(#""named":{"a":\#(Self.pairs(order, sizes: ["right": 6, "left": 7]))}"#))
        #expect(text.contains(#""panels":\#(Self.pairs(order.filter { $0 != "top" }))"#))
    }

    @Test
    func keysThatAreSpelledOtherwiseAreFound() {
        let stored = #"{"snake_case":\#(Self.pairs(Self.orders[1]))}"#
        let (store, _) = Evolving.recorded(["layout": .data(Data(stored.utf8))])
        let layout = Preference("layout", default: Layout(), coding: .snake, in: store)
        layout.value.snakeCase = [.left: Panel(size: 2), .right: Panel(size: 3)]
        guard case .data(let data) = store["layout"] else { return }
        let kept = Self.pairs(["right", "left", "gone"], sizes: ["left": 2, "right": 3])  // without "top"
        #expect(String(decoding: data, as: UTF8.self).contains(#""snake_case":\#(kept)"#))
    }

    @Test
    func valueThatCannotBeDecodedIsReplacedWhenItIsSet() {
        let (store, _) = Evolving.recorded(["panels": .string(#"["left",{"size":"big"},"top",{"size":"small"}]"#)])
        let panels = Preference("panels", default: [Edge: Panel](), coding: .jsonString, in: store)
        panels.value[.right] = Panel(size: 1)
        same(store["panels"], .string(#"["left",{"size":"big"},"top",{"size":"small"},"right",{"size":1}]"#))
        panels.value[.left] = Panel(size: 2)
        same(store["panels"], .string(#"["top",{"size":"small"},"right",{"size":1},"left",{"size":2}]"#))
    }

    @Test
    func numbersAsKeysAreFound() {
        let panel = { (size: Int64) -> PropertyListValue in ["size": .integer(size), "future": .integer(size)] }
        let (store, _) = Evolving.recorded(["scales": [0.5, panel(1), 1.5, panel(2), "gone", panel(3), 2.5, panel(4)]])
        let scales = Preference("scales", default: [Double: Panel](), in: store)
        scales.value = [2.5: Panel(size: 6), 0.5: Panel(size: 5), 0.25: Panel(size: 7)]
        same(
            store["scales"],
            [
                0.5, ["size": 5, "future": 1], "gone", panel(3), 2.5, ["size": 6, "future": 4], 0.25, ["size": 7],
            ]
        )
    }

    @Test
    func keysThatAreStoredInAnotherFormAreFoundOrReplaced() {
        struct Side: Codable, Hashable {
            static let (left, right) = (Side(name: "left"), Side(name: "right"))
            var name: String
            init(name: String) { self.name = name }
            init(from decoder: any Decoder) throws {
                let text = try String(from: decoder)
                name = text == "l" ? "left" : text == "r" ? "right" : text
            }
            func encode(to encoder: any Encoder) throws { try name.encode(to: encoder) }
        }
        let text = #"["r",{"future":1,"size":1},"left",{"future":2,"size":2},"other",{"future":3,"size":3}]"#
        let (store, _) = Evolving.recorded(["one": .string(text), "two": .string(text.replacing("left", with: "l"))])
        for name in ["one", "two"] {
            let panels = Preference(name, default: [Side: Panel](), coding: .jsonString, in: store)
            panels.value[.left]?.size = 5
            panels.value[.right]?.size = 6
            same(panels.value.mapValues(\.size), [.left: 5, .right: 6, Side(name: "other"): 3])
        }
        same(
            store["one"],
            .string(#"["r",{"future":1,"size":6},"left",{"future":2,"size":5},"other",{"future":3,"size":3}]"#)
        )
        guard case .string(let two) = store["two"] else { return }
        #expect(two.hasPrefix(#"["other",{"future":3,"size":3},"#) && !two.contains(#""l""#) && !two.contains(#""r""#))
    }

    /// A list of a type's own whose elements are in turn a text and something else.
    @Test
    func listOfThatShapeKeepsItsOrder() {
        enum Step: Codable {
            case name(String), size(Int)
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                do { self = .size(try container.decode(Int.self)) } catch {
                    self = .name(try container.decode(String.self))
                }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .name(let name): try container.encode(name)
                case .size(let size): try container.encode(size)
                }
            }
        }
        let (store, _) = Evolving.recorded(["steps": .string(#"["a",1,"b",2,"c",3]"#)])
        let steps = Preference("steps", default: [Step](), coding: .jsonString, in: store)
        steps.value = [.name("c"), .size(3), .name("a"), .size(2), .name("b"), .size(2)]
        same(store["steps"], .string(#"["c",3,"a",2,"b",2]"#))
    }
}
