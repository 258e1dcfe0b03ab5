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
    func figureThatWasNotMeasuredIsMissing() {
        #expect(table().value("ours", "Bool") == nil)
    }

    @Test(
        arguments: [
            (.time, 0, "0.00 ns"), (.time, 9.994e-9, "9.99 ns"), (.time, 99.96e-9, "100 ns"), (.time, 59.9, "59.9 s"),
            (.time, 999.9e-9, "1.00 µs"),
            (.bytes, 31.25, "31.3 B"), (.bytes, 9999, "9,999 B"), (.bytes, 362_000, "362 KB"), (.count, 1234, "1,234"),
            (.rate, 1_234_567, "1,234,567/s"), (.bytes, -31.25, "-31.3 B"), (.bytes, -0.345, "-0.35 B"),
        ] as [(Unit, Double, String)]
    )
    func figureHasThreeDigitsInTheUnitThatFits(unit: Unit, value: Double, text: String) {
        #expect(unit.text(value) == text)
    }

    @Test
    func aimIsMetUpToItsBound() {
        var times = Table("Get")
        times.add("Int", [("ours", .ours, 10e-9), ("slow", .peer, 400e-9), ("limit", .limit, 5e-9)])
        #expect(times.aim("get", "", "ours", comparedTo: "limit", "Int", .atMost(2))?.isMet == true)
        #expect(times.aim("get", "", "ours", comparedTo: "limit", "Int", .atMost(1.9))?.isMet == false)
        #expect(times.aim("get", "", "ours", comparedTo: "slow", "Int", .atLeast(40))?.isMet == true)
        #expect(times.aim("get", "", "ours", comparedTo: "slow", "Int", .atLeast(41))?.isMet == false)
        var rates = Table("Set", unit: .rate)
        rates.add("Int", [("ours", .ours, 100), ("slow", .peer, 50)])
        #expect(rates.aim("set", "", "ours", comparedTo: "slow", "Int", .atLeast(2))?.isMet == true)
        #expect(rates.aim("set", "", "slow", comparedTo: "ours", "Int", .atLeast(1))?.isMet == false)
    }

    @Test
    func aimOfANumberIsMetUpToIt() throws {
        var counts = Table("Threads", unit: .count)
        counts.add("idle", [("ours", .ours, 3)])
        let met = try #require(counts.aim("threads", "≤ 4", "ours", "idle", atMost: 4))
        #expect(met.isMet && met.ratio == 0.75 && met.measured == "3")
        #expect(counts.aim("threads", "≤ 2", "ours", "idle", atMost: 2)?.isMet == false)
        #expect(counts.aim("threads", "≤ 2", "absent", "idle", atMost: 2) == nil)
    }

    @Test
    func aimOfNoneHasNoRatio() throws {
        var counts = Table("Wake-ups", unit: .count)
        counts.add("idle", [("ours", .ours, 0)])
        counts.add("busy", [("ours", .ours, 1)])
        let met = try #require(counts.aim("idle", "none", "ours", "idle", atMost: 0))
        let missed = try #require(counts.aim("busy", "none", "ours", "busy", atMost: 0))
        #expect(met.isMet && !missed.isMet)
        #expect(markdown([met, missed]).contains("| idle | none | 0 | – | yes |\n| busy | none | 1 | – | **no** |"))
    }

    @Test
    func aimShowsBothFiguresAndIsLeftOutIfOneIsMissing() throws {
        #expect(table().aim("get", "", "ours", comparedTo: "absent", "Int", .atMost(2)) == nil)
        #expect(table().aim("get", "", "ours", comparedTo: "slow", "String", .atMost(2)) == nil)
        let missed = try #require(table().aim("get", "≤ 2×", "slow", comparedTo: "ours", "Int", .atMost(2)))
        #expect(markdown([missed]).hasSuffix("| get | ≤ 2× | 2.50 µs, ours: 10.0 ns | 250× | **no** |"))
    }
}
