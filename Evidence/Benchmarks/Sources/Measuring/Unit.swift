/// The unit of a table's figures, and how they are written.
package enum Unit: Sendable {
    /// Seconds.
    case time
    /// Bytes.
    case bytes
    /// A number per second.
    case rate
    /// A number.
    case count

    /// Whether a larger figure is the better one.
    var isMoreBetter: Bool { self == .rate }

    /// Returns how many times as good a figure is as another.
    func advantage(of figure: Double, over other: Double) -> Double {
        isMoreBetter ? figure / other : other / figure
    }

    /// Returns the figure with three significant digits, in the multiple of the unit that fits.
    package func text(_ value: Double) -> String {
        switch self {
        case .time:
            let scale =
                [(1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1, 1e3, "ms")].first { value < $0.0 * 0.9995 } ?? (1, 1, "s")
            return "\(digits(value * scale.1)) \(scale.2)"
        case .bytes:
            return value < 10_000 ? "\(digits(value)) B" : "\(digits(value / 1000)) KB"
        case .rate:
            return "\(grouped(value))/s"
        case .count:
            return grouped(value)
        }
    }
}

/// Returns a factor with three significant digits.
package func times(_ ratio: Double) -> String { "\(digits(ratio))×" }

/// Returns three significant digits, all digits before the point, in groups of thousands.
func digits(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    // A difference of two measurements, such as the memory for names, can be negative by chance.
    if value < 0 { return "-\(digits(-value))" }
    // From these bounds on, rounding gives one more digit.
    let places = value.magnitude >= 99.95 ? 0 : value.magnitude >= 9.995 ? 1 : 2
    let scale = [1.0, 10, 100][places]
    let scaled = (value * scale).rounded()
    guard places > 0 else { return grouped(scaled) }
    let (whole, rest) = Int(scaled).quotientAndRemainder(dividingBy: Int(scale))
    let fraction = String(rest)
    return "\(whole).\(String(repeating: "0", count: places - fraction.count))\(fraction)"
}

private func grouped(_ value: Double) -> String {
    var text = String(Int(value.rounded()))
    var end = text.endIndex
    while text.distance(from: text.startIndex, to: end) > 3 {
        end = text.index(end, offsetBy: -3)
        text.insert(",", at: end)
    }
    return text
}
