import Preferences
import TestSupport
import Testing

/// Dictionaries whose keys aren't texts in the type, or aren't ones that a stored dictionary can have.
struct EvolvingKeyTests {
    private enum Slot: Int, Codable { case one = 1, two }

    private struct Keyed: Codable, Equatable {
        var slots: [Slot: Evolving.Tool] = [:]
        var numbers: [UInt: Evolving.Tool] = [:]
        var bytes: [UInt8: Int] = [:]
        var optional: [Int64: Int]?
        var volume = 5
        var added = true
    }

    @Test
    func integersAsKeysAreReadFromTextBesideMissingAndUnknownParts() {
        let stored: PropertyListValue = [
            "slots": ["1": "tree", "2": "gone", "9": "tree"], "numbers": ["1": "tree", "2": "gone"],
            "bytes": ["7": 1, "300": 2], "optional": ["-3": 4], "volume": 3,
        ]
        let (store, _) = Evolving.recorded(["keyed": stored])
        let keyed = Preference("keyed", default: Keyed(), in: store)
        let expected = Keyed(slots: [.one: .tree], numbers: [1: .tree], bytes: [7: 1], optional: [-3: 4], volume: 3)
        same(keyed.value, expected)
        keyed.value.numbers[8] = .search
        var merged = stored
        merged[member: "numbers"]?[member: "8"] = "search"
        merged[member: "added"] = true
        same(store["keyed"], merged)
        store["numbers"] = ["1": "tree", "2": "gone"]
        same(Preference("numbers", default: [UInt: Evolving.Tool](), in: store).value, [1: .tree])
    }

    private enum Older: Codable, Hashable { case a, b }
    private enum Newer: Codable, Hashable { case z }
    private static let (a, z): (PropertyListValue, PropertyListValue) = (["a": [:]], ["z": [:]])

    @Test
    func entriesOfOthersAreKeptIfThisProgramHasNone() {
        let (store, _) = Evolving.recorded([:])
        let older = Preference("sizes", default: [Older: Int](), in: store)
        let newer = Preference("sizes", default: [Newer: Int](), in: store)
        newer.value[.z] = 1
        older.value[.a] = 2
        same(store["sizes"], [Self.z, 1, Self.a, 2])
        older.value[.a] = nil
        same(store["sizes"], [Self.z, 1])
        newer.value[.z] = 3
        same(store["sizes"], [Self.z, 3])
        newer.value = [:]
        same(newer.value, [:])
    }

    @Test
    func entriesAreKeptWhenAKeyMakesAListOfADictionary() {
        let (store, _) = Evolving.recorded(["tools": ["1": "tree", "2": "gone"]])
        let tools = Preference("tools", default: [Int?: Evolving.Tool](), in: store)
        tools.value[nil] = .search
        same(store["tools"], [1, "tree", 2, "gone", "$null", "search"])
        same(tools.value, [1: .tree, nil: .search])
        tools.value[nil] = nil
        same(store["tools"], ["1": "tree", "2": "gone"])
    }
}
