import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

struct NodeTableTests {
    /// Compares the table with a dictionary. The names are few, so that some are equal, and some of them only canonically.
    @Test(arguments: 0..<20)
    func tableFindsWhatADictionaryFinds(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = NodeTable()
        var model: [String: PreferenceNode] = [:]
        let names = (0..<200).flatMap { ["e\u{301}\($0)", "\u{e9}\($0)"] }
        for _ in 0..<2_000 {
            let name = names.pick(&random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0:
                let share = Int.random(in: 0...4, using: &random)
                let chosen = Set(
                    model.values.filter { _ in Int.random(in: 0..<4, using: &random) < share }.map(
                        ObjectIdentifier.init
                    )
                )
                let removed = table.remove { chosen.contains(ObjectIdentifier($0)) }
                same(Set(removed.map { ObjectIdentifier($0.node) }), chosen)
                model = model.filter { !chosen.contains(ObjectIdentifier($0.value)) }
            case 1..<50: #expect(table[name] === model[name])
            default:
                let node = table.node(of: name)
                #expect(model[name] == nil || model[name] === node)
                model[name] = node
            }
            same(table.count, model.count)
        }
        for name in names { #expect(table[name] === model[name]) }
        same(
            Dictionary(uniqueKeysWithValues: table.entries.map { ($0.name, ObjectIdentifier($0.node)) }),
            model.mapValues(ObjectIdentifier.init)
        )
    }

    /// Names that are looked for at the end of a table have to be found at its beginning.
    @Test(arguments: [5, 6, 7, 11, 12, 13, 23, 24, 25])
    func tableThatGrowsKeepsItsNodes(count: Int) {
        for round in 0..<50 {
            var table = NodeTable()
            let names = (0..<count).map { "\(round) \($0)" }
            let nodes = names.map { table.node(of: $0) }
            #expect(
                names.indices.allSatisfy { table[names[$0]] === nodes[$0] && table.node(of: names[$0]) === nodes[$0] }
            )
            #expect(table["\(round)"] == nil && table.count == count)
        }
    }

    @Test
    func tableShrinksWithItsNodes() throws {
        var table = NodeTable()
        for number in 0..<10_000 { _ = table.node(of: "\(number)") }
        let kept = try #require(table["5"])
        same(table.remove { $0 !== kept }.count, 9_999)
        #expect(table["5"] === kept && table["6"] == nil)
        try same(placeCount(table), 8)
        same(table.remove { _ in true }.count, 1)
        #expect(table["5"] == nil && table.count == 0)
        _ = table.node(of: "5")
        try same(placeCount(table), 8)
    }

    private func placeCount(_ table: NodeTable) throws -> Int {
        try #require(Mirror(reflecting: table).descendant("places") as? [UInt32]).count
    }
}
