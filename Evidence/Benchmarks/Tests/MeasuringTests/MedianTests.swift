import Measuring
import Testing

struct MedianTests {
    @Test(arguments: [([3.0], 3.0), ([3, 1], 2), ([9, 1, 5], 5), ([4, 1, 100, 2], 3)] as [([Double], Double)])
    func medianIsTheMiddle(values: [Double], middle: Double) {
        #expect(median(values) == middle)
    }

    @Test
    func medianOfNothingIsNoNumber() {
        #expect(median([]).isNaN)
    }

    /// Two rounds come before those that count.
    @Test
    func contendersTakeTurnsInBothDirections() throws {
        var order = ""
        let contenders = ["a", "b", "c"].map { name in
            Contender(name, .peer) {
                order += name
                return Double(order.count)
            }
        }
        let medians = try Effort(rounds: 2, length: 1).medians(of: contenders)
        #expect(order == "aabbcc" + "abc" + "cba")
        #expect(medians == [9.5, 9.5, 9.5])
    }

    @Test
    func aSampleIsOfAsManyOperationsAsFitItsLength() throws {
        var counts: [Int] = []
        let contender = Contender.timed("one", .peer, length: 3600, most: 5) { counts.append($0) }
        _ = try Effort(rounds: 3, length: 1).medians(of: [contender])
        // One warms up, 1, 4 and 5 find the number of operations, each twice; then there are five samples.
        #expect(counts == [1, 1, 1, 4, 4, 5, 5] + Array(repeating: 5, count: 5))
    }
}
