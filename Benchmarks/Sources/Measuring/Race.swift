/// How thoroughly is measured.
package struct Effort: Sendable {
    /// How many samples of each contender the median is taken of.
    package var rounds: Int
    /// How long a sample of a repeated operation takes, in seconds.
    package var length: Double

    package init(rounds: Int, length: Double) {
        self.rounds = rounds
        self.length = length
    }
}

extension Effort {
    /// The median of each contender, in the order given.
    ///
    /// One sample of each is taken in turn, in every second round in the other direction, so that what else the machine does meets
    /// all alike. A first round warms up and doesn't count. A contender that takes long takes part in every fourth round.
    package func medians(of contenders: [Contender]) throws -> [Double] {
        var samples = contenders.map { _ in [Double]() }
        let isSlow = try contenders.map { contender in
            // The first sample may also find out how many operations it is to be of.
            _ = try contender.sample()
            return try seconds { _ = try contender.sample() } > slow
        }
        for round in 0..<rounds {
            let turns = Array(contenders.indices)
            for index in round.isMultiple(of: 2) ? turns : turns.reversed() {
                guard !isSlow[index] || round.isMultiple(of: 4) else { continue }
                samples[index].append(try contenders[index].sample())
            }
        }
        return samples.map(median)
    }

    /// The length of a sample from which fewer do, in seconds.
    private var slow: Double { max(0.05, length * 5) }
}

/// The middle one, or the mean of the two in the middle; not a number where there are none.
package func median(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return .nan }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}
