/// What was to be reached, and what was.
package struct Aim: Sendable {
    package let row: String
    package let text: String
    package let reached: String
    package let isMet: Bool

    /// An aim that a figure is at most, or at least, some bound; nil, and so not listed, where it wasn't measured.
    package init?(_ row: String, _ text: String, _ value: Double?, _ bound: Bound, _ format: (Double) -> String = times)
    {
        guard let value, value.isFinite else { return nil }
        self.row = row
        self.text = text
        reached = format(value)
        isMet =
            switch bound {
            case .atMost(let limit): value <= limit
            case .atLeast(let limit): value >= limit
            }
    }

    package enum Bound: Sendable {
        case atMost(Double), atLeast(Double)
    }
}

/// The aims as a Markdown table.
package func markdown(_ aims: [Aim]) -> String {
    let rows = aims.map { "| \($0.row) | \($0.text) | \($0.reached) | \($0.isMet ? "yes" : "**no**") |" }
    return (["| row | aim | measured | met |", "|---|---|---:|---|"] + rows).joined(separator: "\n")
}
