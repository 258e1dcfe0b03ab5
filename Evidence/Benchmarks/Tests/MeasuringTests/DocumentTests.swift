import Foundation
import Measuring
import Testing

struct DocumentTests {
    private let part = MarkedPart("figures")

    @Test
    func onlyWhatIsBetweenTheMarksIsReplaced() throws {
        let page = "before\n<!-- figures: begin -->\nold\n<!-- figures: end -->\nafter\n"
        let changed = try part.replacing("new", in: page)
        #expect(changed == "before\n<!-- figures: begin -->\n\nnew\n\n<!-- figures: end -->\nafter\n")
        #expect(try part.replacing("new", in: changed) == changed)
    }

    @Test(arguments: ["", "<!-- figures: begin -->\n", "<!-- figures: end -->\n<!-- figures: begin -->\n"])
    func pageWithoutBothMarksInOrderIsRefused(page: String) {
        #expect(throws: MarkedPart.Missing.self) { try part.replacing("new", in: page) }
    }

    @Test
    func chartIsWellFormedAndItsBarsGrowByDecades() throws {
        var table = Table("Get")
        table.add("Int", [("a < b & c", .ours, 1e-9), ("two", .peer, 10e-9), ("three", .limit, 1e-6)])
        let svg = BarChart("get.svg", "Get & set", table, columns: ["Int"]).svg
        let reader = SVGReader()
        try reader.read(svg)
        #expect(reader.texts.contains("a < b & c"))
        #expect(reader.texts.contains("1.00 µs"))
        // Three bars on three decades, a tenth of one added to each, then the squares of the legend.
        try #require(reader.widths.count == 6)
        let decade = reader.widths[2] / 3.1
        #expect(abs(reader.widths[0] - decade * 0.1) < 0.2)
        #expect(abs(reader.widths[1] - decade * 1.1) < 0.2)
    }

    @Test
    func chartOfOneBarAndOfNoneIsDrawn() throws {
        let one = BarChart("one.svg", "One", unit: .time, [.init("", [.init("a", .ours, 1)])])
        let none = BarChart("none.svg", "None", unit: .time, [])
        for chart in [one, none] { try SVGReader().read(chart.svg) }
    }
}
