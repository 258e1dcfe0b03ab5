/// The number and the length of samples.
package struct Effort: Sendable {
    /// The number of samples of each contender, whose median is taken.
    package var rounds: Int
    /// The time of a sample of a repeated operation, in seconds.
    package var length: Double

    package init(rounds: Int, length: Double) {
        self.rounds = rounds
        self.length = length
    }
}

extension Effort {
    /// Returns the median of each contender, in the order given.
    ///
    /// The contenders are sampled in turn, in every second round in reverse order, so that other work of the machine affects all
    /// contenders alike. A first round warms up and doesn't count. A slow contender only takes a sample in every fourth
    /// round.
    package func medians(of contenders: [Contender]) throws -> [Double] {
        var samples = contenders.map { _ in [Double]() }
        let isSlow = try contenders.map { contender in
            // The first sample might also find the number of operations per sample.
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

    /// The length of a sample from which fewer samples are taken, in seconds.
    private var slow: Double { max(0.05, length * 5) }
}

/// Returns the middle value, or the mean of the two in the middle; not a number for an empty array.
package func median(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return .nan }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
}
