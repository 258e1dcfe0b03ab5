/// A bound on one contender's figure: relative to another one of the same run, or a number.
package struct Aim: Sendable {
    package let row: String
    package let text: String
    /// The two figures, the contender's first.
    package let measured: String
    /// The first figure divided by the second or by the number, or how many times as good the first is, depending on
    /// the bound.
    package let ratio: Double
    package let isMet: Bool

    package enum Bound: Sendable {
        /// The greatest quotient of the contender's figure and the other one.
        case atMost(Double)
        /// The least factor by which the contender's figure is better than the other one: how many times as fast, for
        /// times and rates.
        case atLeast(Double)
    }
}

extension Table {
    /// Returns an aim of a contender relative to another one in a column, or `nil` if one of them wasn't measured.
    package func aim(
        _ row: String,
        _ text: String,
        _ contender: String,
        comparedTo other: String,
        _ column: String,
        _ bound: Aim.Bound
    ) -> Aim? {
        guard let own = value(contender, column), let base = value(other, column), own > 0, base > 0 else { return nil }
        let ratio: Double
        let isMet: Bool
        switch bound {
        case .atMost(let limit):
            ratio = own / base
            isMet = ratio <= limit
        case .atLeast(let limit):
            ratio = unit.advantage(of: own, over: base)
            isMet = ratio >= limit
        }
        let measured = "\(unit.text(own)), \(other): \(unit.text(base))"
        return Aim(row: row, text: text, measured: measured, ratio: ratio, isMet: isMet)
    }
}

extension Table {
    /// Returns an aim that is a number and not another contender's figure, or `nil` if the contender wasn't measured.
    package func aim(_ row: String, _ text: String, _ contender: String, _ column: String, atMost limit: Double) -> Aim?
    {
        guard let own = value(contender, column) else { return nil }
        return Aim(row: row, text: text, measured: unit.text(own), ratio: own / limit, isMet: own <= limit)
    }
}

/// Returns the aims as a Markdown table.
package func markdown(_ aims: [Aim]) -> String {
    let rows = aims.map { aim in
        // A ratio to a limit of 0 doesn't exist.
        let ratio = aim.ratio.isFinite ? times(aim.ratio) : "–"
        return "| \(aim.row) | \(aim.text) | \(aim.measured) | \(ratio) | \(aim.isMet ? "yes" : "**no**") |"
    }
    return (["| row | aim | measured | ratio | met |", "|---|---|---|---:|---|"] + rows).joined(separator: "\n")
}
