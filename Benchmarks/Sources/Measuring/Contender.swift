/// One of those that are measured beside each other, and how a sample of it is taken.
package struct Contender {
    /// What a contender is to the reader of a table.
    package enum Kind: Sendable {
        /// The library itself.
        case ours
        /// What a user would pick instead.
        case peer
        /// What can't be beaten, or a part of the work alone.
        case limit
        /// Shown, but no measure: what promises less than the row asks for.
        case aside
    }

    package let name: String
    package let kind: Kind
    let sample: () throws -> Double

    /// Makes a contender whose sample is taken by a closure.
    ///
    /// - Parameter sample: Returns seconds, or whatever the table's unit is.
    package init(_ name: String, _ kind: Kind, sample: @escaping () throws -> Double) {
        self.name = name
        self.kind = kind
        self.sample = sample
    }

    /// Makes a contender that does an operation again and again; a sample is the time of one, in seconds.
    ///
    /// - Parameters:
    ///   - length: How long a sample takes about, in seconds. The first sample finds out how many operations that is.
    ///   - most: The most operations in a sample.
    ///   - body: Does the operation so many times.
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
        // What happens once, at the first operation, is no measure.
        try body(count)
        while true {
            // The better of two, as one may have met what else the machine does.
            let time = try min(seconds { try body(count) }, seconds { try body(count) })
            if time >= length / 4 || count >= most {
                return max(1, min(most, Int(Double(count) * length / max(time, 1e-9))))
            }
            count = min(count * 4, most)
        }
    }
}

/// How long the body takes, in seconds.
package func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
}

/// Takes a value so that the compiler can't leave out what made it.
@_optimize(none)
package func keep<Value>(_ value: Value) {}
