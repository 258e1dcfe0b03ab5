import Measuring
import Testing

struct TableTests {
    private func table() -> Table {
        var table = Table("Get", note: "One value.")
        table.add(
            "Int",
            [("ours", .ours, 10e-9), ("slow", .peer, 2.5e-6), ("quick", .peer, 123e-9), ("mutex", .limit, 20e-9)]
        )
        table.add("String", [("ours", .ours, 16e-9), ("quick", .peer, 0.1), ("late", .peer, 1.5)])
        return table
    }

    @Test
    func tableHasALineForEachContenderAndTheRatiosLast() {
        #expect(
            table().markdown == """
                ### Get

                One value.

                |  | Int | String |
                | --- | ---: | ---: |
                | **ours** | 10.0 ns | 16.0 ns |
                | slow | 2.50 µs | – |
                | quick | 123 ns | 100 ms |
                | *limit:* mutex | 20.0 ns | – |
                | late | – | 1.50 s |
                | ours: times as good as the best peer | 12.3× (quick) | 6,250,000× (quick) |
                | ours ÷ mutex | 0.50× | – |
                """
        )
    }

    @Test
    func moreIsBetterOfARate() {
        var table = Table("Writers", unit: .rate)
        table.add("two", [("ours", .ours, 300_000), ("slow", .peer, 1000), ("quick", .peer, 100_000)])
        #expect(table.markdown.hasSuffix("| ours: times as good as the best peer | 3.00× (quick) |"))
        #expect(table.markdown.contains("| **ours** | 300,000/s |"))
    }

    @Test
    func ratioIsOfOneColumnAndMissingWhereAFigureIs() {
        #expect(table().ratio("slow", to: "ours", "Int") == 2.5e-6 / 10e-9)
        #expect(table().ratio("slow", to: "ours", "String") == nil)
        #expect(table().ratio("nobody", to: "ours", "Int") == nil)
        #expect(table().value("ours", "Bool") == nil)
    }

    @Test(
        arguments: [
            (.time, 0, "0.00 ns"), (.time, 9.994e-9, "9.99 ns"), (.time, 99.96e-9, "100 ns"), (.time, 59.9, "59.9 s"),
            (.time, 999.9e-9, "1.00 µs"),
            (.bytes, 31.25, "31.3 B"), (.bytes, 9999, "9,999 B"), (.bytes, 362_000, "362 KB"), (.count, 1234, "1,234"),
            (.rate, 1_234_567, "1,234,567/s"),
        ] as [(Unit, Double, String)]
    )
    func figureHasThreeDigitsInTheUnitThatFits(unit: Unit, value: Double, text: String) {
        #expect(unit.text(value) == text)
    }

    @Test
    func aimIsMetUpToItsBoundAndLeftOutWhereNothingWasMeasured() {
        #expect(Aim("get", "≤ 2", 2, .atMost(2))?.isMet == true)
        #expect(Aim("get", "≤ 2", 2.1, .atMost(2))?.isMet == false)
        #expect(Aim("get", "≥ 40×", 39.9, .atLeast(40))?.isMet == false)
        #expect(Aim("get", "≥ 40×", 40, .atLeast(40))?.isMet == true)
        #expect(Aim("get", "≤ 2", nil, .atMost(2)) == nil)
        let missed = Aim("get", "≤ 2", 2.1, .atMost(2)).map { [$0] } ?? []
        #expect(markdown(missed).hasSuffix("| get | ≤ 2 | 2.10× | **no** |"))
    }
}
