import Preferences
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        #expect(keyed.value == expected)
        keyed.value.numbers[8] = .search
        var merged = stored
        merged[member: "numbers"]?[member: "8"] = "search"
        merged[member: "added"] = true
        #expect(store["keyed"] == merged)
        store["numbers"] = ["1": "tree", "2": "gone"]
        #expect(Preference("numbers", default: [UInt: Evolving.Tool](), in: store).value == [1: .tree])
    }
}
