#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Data: PreferenceValue {
    /// Takes data.
    public init(storedValue: PropertyListValue) throws {
        guard case .data(let value) = storedValue else { throw storedValue.mismatch(Data.self) }
        self = value
    }

    /// Data.
    public func storedValue() -> PropertyListValue? { .data(self) }
}

extension Date: PreferenceValue {
    /// Takes a date.
    public init(storedValue: PropertyListValue) throws {
        guard case .date(let value) = storedValue else { throw storedValue.mismatch(Date.self) }
        self = value
    }

    /// A date.
    public func storedValue() -> PropertyListValue? { .date(self) }
}

extension URL: PreferenceValue {
    /// Takes the absolute text of a URL, query and fragment included; nothing is percent-encoded to make it one.
    ///
    /// On Apple platforms also what `UserDefaults.set(_:forKey:)` stored for a URL: an archive, or the path of a file.
    public init(storedValue: PropertyListValue) throws {
        if let url = try URL(fromUserDefaults: storedValue) {
            self = url
            return
        }
        let text = try storedValue.string(as: URL.self)
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw storedValue.mismatch(URL.self)
        }
        self = url
    }

    /// The absolute text; a base that the URL was made with is part of it.
    public func storedValue() -> PropertyListValue? { .string(absoluteString) }
}

extension UUID: PreferenceValue {
    /// Takes the text of a UUID.
    public init(storedValue: PropertyListValue) throws {
        guard let uuid = UUID(uuidString: try storedValue.string(as: UUID.self)) else {
            throw storedValue.mismatch(UUID.self)
        }
        self = uuid
    }

    /// The text in capitals.
    public func storedValue() -> PropertyListValue? { .string(uuidString) }
}

extension Locale: PreferenceValue {
    /// Takes an identifier; every text is one.
    public init(storedValue: PropertyListValue) throws {
        self.init(identifier: try storedValue.string(as: Locale.self))
    }

    /// The identifier.
    public func storedValue() -> PropertyListValue? { .string(identifier) }
}

extension TimeZone: PreferenceValue {
    /// Takes the identifier of a zone that the system knows.
    public init(storedValue: PropertyListValue) throws {
        guard let zone = TimeZone(identifier: try storedValue.string(as: TimeZone.self)) else {
            throw storedValue.mismatch(TimeZone.self)
        }
        self = zone
    }

    /// The identifier.
    public func storedValue() -> PropertyListValue? { .string(identifier) }
}

extension Decimal: PreferenceValue {
    /// Takes the decimal text of a number, or an integer.
    public init(storedValue: PropertyListValue) throws {
        switch storedValue {
        case .integer(let value): self.init(value)
        case .unsigned(let value): self.init(value)
        default:
            let text = try storedValue.string(as: Decimal.self)
            if text == Decimal.nan.description {
                self = .nan
                return
            }
            // Foundation's parser stops at what it doesn't know and keeps what it has; Double's takes all or nothing.
            let isNumber = Double(text) != nil && text.utf8.allSatisfy { "+-.eE0123456789".utf8.contains($0) }
            guard isNumber, let value = Decimal(string: text) else { throw storedValue.mismatch(Decimal.self) }
            self = value
        }
    }

    /// Decimal text.
    public func storedValue() -> PropertyListValue? { .string(description) }
}

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

#if !canImport(Darwin) && !STANDINS
extension URL {
    /// No other way to keep a URL is known here.
    init?(fromUserDefaults stored: PropertyListValue) throws { return nil }
}
#endif
