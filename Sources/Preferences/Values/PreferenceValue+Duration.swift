extension Duration: PreferenceValue {
    /// Takes decimal text of seconds with up to 18 digits behind the point, an integer or a real.
    public init(storedValue: PropertyListValue) throws {
        let duration: Duration? =
            switch storedValue {
            case .string(let text): Duration(seconds: text)
            case .integer(let value): Duration(attoseconds: Int128(value) * .attosecondsPerSecond)
            case .unsigned(let value): Duration(attoseconds: Int128(value) * .attosecondsPerSecond)
            case .real(let value): Duration(seconds: value)
            default: nil
            }
        guard let duration else { throw storedValue.mismatch(Duration.self) }
        self = duration
    }

    /// Seconds as decimal text, exact to the attosecond.
    public func storedValue() -> PropertyListValue? {
        let (seconds, fraction) = attoseconds.magnitude.quotientAndRemainder(
            dividingBy: Int128.attosecondsPerSecond.magnitude
        )
        var text = (attoseconds < 0 ? "-" : "") + seconds.description
        if fraction != 0 {
            let digits = fraction.description
            text += "." + String(repeating: "0", count: 18 - digits.count) + digits
            while text.utf8.last == UInt8(ascii: "0") { text.removeLast() }
        }
        return .string(text)
    }

    private init?(seconds text: String) {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let parts = text.utf8.dropFirst(isNegative ? 1 : 0).split(
            separator: UInt8(ascii: "."),
            omittingEmptySubsequences: false
        )
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        let fraction = parts.count == 2 ? parts[1] : "".utf8[...]
        guard fraction.count <= 18 else { return nil }
        var attoseconds: Int128 = 0
        let zeros = repeatElement(UInt8(ascii: "0"), count: 18 - fraction.count)
        for digits in [Array(parts[0]), Array(fraction), Array(zeros)] {
            for digit in digits {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                let (product, isTooLarge) = attoseconds.multipliedReportingOverflow(by: 10)
                let value = Int128(digit - UInt8(ascii: "0"))
                // Counted down from zero on the negative side, because `Int128.min` has no positive twin.
                let (sum, overflows) =
                    isNegative ? product.subtractingReportingOverflow(value) : product.addingReportingOverflow(value)
                guard !isTooLarge, !overflows else { return nil }
                attoseconds = sum
            }
        }
        self.init(attoseconds: attoseconds)
    }

    /// The duration that the real's shortest decimal text says, so that 0.1 is a tenth; else the nearest one.
    private init?(seconds value: Double) {
        if let duration = Duration(seconds: value.description) {
            self = duration
        } else if value.magnitude < Double(Int128.max / .attosecondsPerSecond) {
            self = .seconds(value)
        } else {
            return nil
        }
    }
}

extension Int128 {
    fileprivate static let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000
}
