/// One of the candidates that are measured in comparison, and how a sample of it is taken.
package struct Contender {
    /// The role of a contender in a table.
    package enum Kind: Sendable {
        /// The library itself.
        case ours
        /// An alternative that a user would choose.
        case peer
        /// A bound that can't be beaten, or a part of the work alone.
        case limit
        /// Shown, but not compared: a contender that promises less than the row requires.
        case aside
    }

    package let name: String
    package let kind: Kind
    let sample: () throws -> Double

    /// Creates a contender whose sample is taken by a closure.
    ///
    /// - Parameter sample: Returns seconds, or a figure in the table's unit.
    package init(_ name: String, _ kind: Kind, sample: @escaping () throws -> Double) {
        self.name = name
        self.kind = kind
        self.sample = sample
    }

    /// Creates a contender that repeats an operation; a sample is the time of one operation, in seconds.
    ///
    /// - Parameters:
    ///   - length: The approximate time of a sample, in seconds. The first sample finds the number of operations for
    ///     it.
    ///   - most: The most operations in a sample.
    ///   - body: Performs the operation as often as its argument says.
    package static func timed(
        _ name: String,
        _ kind: Kind,
        length: Double,
        most: Int = .max,
        _ body: @escaping (Int) throws -> Void
    ) -> Contender {
        var count: Int?
        return Contender(name, kind) {
            let rounds = try count ?? calibrated(length: length, most: most, body)
            count = rounds
            return try seconds { try body(rounds) } / Double(rounds)
        }
    }

    private static func calibrated(length: Double, most: Int, _ body: (Int) throws -> Void) throws -> Int {
        var count = 1
        // Work that is done once, at the first operation, must not be measured.
        try body(count)
        while true {
            // The better of two, as other work of the machine might have disturbed one.
            let time = try min(seconds { try body(count) }, seconds { try body(count) })
            if time >= length / 4 || count >= most {
                return max(1, min(most, Int(Double(count) * length / max(time, 1e-9))))
            }
            count = min(count * 4, most)
        }
    }
}

/// Returns how long the body takes, in seconds.
package func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
}

/// Uses a value, so that the compiler can't remove its computation.
@_optimize(none)
package func keep<Value>(_ value: Value) {}
