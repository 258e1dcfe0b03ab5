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
}
