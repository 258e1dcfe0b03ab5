#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Data: PreferenceValue {
    /// Creates data from data, or from Base64 text that was written by hand.
    public init(storedValue: PropertyListValue) throws {
        switch storedValue {
        case .data(let value): self = value
        case .string(let text):
            guard let value = Data(base64Encoded: text) else { throw storedValue.mismatch(Data.self) }
            self = value
        default: throw storedValue.mismatch(Data.self)
        }
    }

    /// Returns data.
    public func storedValue() -> PropertyListValue? { .data(self) }
}

extension Date: PreferenceValue {
    /// Creates a date from a date, or from ISO 8601 text that was written by hand, with seconds and `Z` or an offset such as `+02:00`.
    public init(storedValue: PropertyListValue) throws {
        switch storedValue {
        case .date(let value): self = value
        case .string(let text):
            guard let seconds = DateText.seconds(of: text, allowsOffset: true) else {
                throw storedValue.mismatch(Date.self)
            }
            self.init(timeIntervalSinceReferenceDate: seconds)
        default: throw storedValue.mismatch(Date.self)
        }
    }

    /// Returns a date.
    public func storedValue() -> PropertyListValue? { .date(self) }
}

extension URL: PreferenceValue {
    /// Creates a URL from its absolute string, including query and fragment, or from a relative one and the base; an invalid string is not
    /// percent-encoded.
    ///
    /// Also reads the form that `UserDefaults.set(_:forKey:)` stores for a URL: the absolute path of a file, and on Apple platforms
    /// an archive.
    public init(storedValue: PropertyListValue) throws {
        if let url = try URL(fromUserDefaults: storedValue) {
            self = url
            return
        }
        guard case .dictionary(let members) = storedValue, let relative = members[Self.relativeKey] else {
            self = try Self(text: storedValue, of: storedValue)
            return
        }
        let url = try Self(text: relative, of: storedValue)
        guard let base = members[Self.baseKey] else {
            self = url
            return
        }
        guard let resolved = URL(string: url.absoluteString, relativeTo: try URL(storedValue: base)) else {
            throw storedValue.mismatch(URL.self)
        }
        self = resolved
    }

    private init(text: PropertyListValue, of stored: PropertyListValue) throws {
        guard let url = URL(string: try text.string(as: URL.self), encodingInvalidCharacters: false) else {
            throw stored.mismatch(URL.self)
        }
        self = url
    }

    /// Returns the absolute string; in a dictionary if the string looks like a path, and of a URL with a base the relative string and the
    /// base.
    public func storedValue() -> PropertyListValue? {
        if let baseURL, let base = baseURL.storedValue() {
            return [Self.relativeKey: .string(relativeString), Self.baseKey: base]
        }
        let text = absoluteString
        return text.hasPrefix("/") || text.hasPrefix("~") ? [Self.relativeKey: .string(text)] : .string(text)
    }

    // The keys of the dictionary of the URL's own `encode(to:)`.
    private static var relativeKey: String { "relative" }
    private static var baseKey: String { "base" }
}

extension UUID: PreferenceValue {
    /// Creates a UUID from its string, in uppercase or lowercase.
    public init(storedValue: PropertyListValue) throws {
        guard let uuid = UUID(uuidString: try storedValue.string(as: UUID.self)) else {
            throw storedValue.mismatch(UUID.self)
        }
        self = uuid
    }

    /// Returns the string in uppercase.
    public func storedValue() -> PropertyListValue? { .string(uuidString) }
}

extension Locale: PreferenceValue {
    /// Creates a locale from its identifier.
    ///
    /// Throws if the platform reads the identifier as another locale, as Linux does unless the program uses all of Foundation.
    public init(storedValue: PropertyListValue) throws {
        let identifier = try storedValue.identifier(as: Locale.self)
        self.init(identifier: identifier)
        guard isDenoted(by: identifier) else {
            throw PreferenceError(
                .unreadable,
                "expected Locale, found \(storedValue.summary), which this platform reads as \"\(self.identifier)\""
            )
        }
    }

    /// Returns the identifier.
    public func storedValue() -> PropertyListValue? { .string(identifier) }

    /// Returns whether a text is the locale's identifier, possibly in another spelling, such as "en-US" for "en_US".
    private func isDenoted(by text: String) -> Bool {
        text == identifier || Self.canonical(text) == Self.canonical(identifier)
    }

    private static func canonical(_ identifier: String) -> String {
        canonicalIdentifier(from: identifier).replacing("-", with: "_").lowercased()
    }
}

extension TimeZone: PreferenceValue {
    /// Creates a time zone from the identifier of a zone that the system knows, or from an offset such as "GMT+0130".
    ///
    /// On Linux the system knows names only if the program uses all of Foundation.
    public init(storedValue: PropertyListValue) throws {
        let identifier = try storedValue.identifier(as: TimeZone.self)
        let offset = Self.offset(in: identifier)
        guard let zone = TimeZone(identifier: identifier) ?? offset.flatMap({ TimeZone(secondsFromGMT: $0) }),
            offset == zone.secondsFromGMT() || zone.identifier.lowercased() == identifier.lowercased()
        else {
            throw storedValue.mismatch(TimeZone.self)
        }
        self = zone
    }

    /// Returns the identifier; throws `unencodable` if it doesn't give the zone's exact offset from GMT.
    public func storedValue() throws -> PropertyListValue? {
        if let offset = Self.offset(in: identifier), offset != secondsFromGMT() {
            throw PreferenceError(
                .unencodable,
                "a time zone \(secondsFromGMT()) s from GMT can't be stored, because its identifier \(identifier) "
                    + "has another offset; nothing was changed. Use an offset of whole minutes"
            )
        }
        return .string(identifier)
    }

    /// Returns the offset in seconds of an identifier such as "GMT", "GMT+0130" or "UTC-1:30"; `nil` for other identifiers.
    private static func offset(in identifier: String) -> Int? {
        guard identifier.hasPrefix("GMT") || identifier.hasPrefix("UTC") else { return nil }
        let rest = identifier.dropFirst(3)
        guard let sign = rest.first else { return 0 }
        guard sign == "+" || sign == "-" else { return nil }
        let parts = rest.dropFirst().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ (1...4).contains($0.count) && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let first = Int(parts[0])
        else { return nil }
        let (hours, minutes) =
            switch (parts.count, parts[0].count) {
            case (1, 3...): (first / 100, first % 100)
            case (1, _): (first, 0)
            default: (first, parts[1].count == 2 ? Int(parts[1]) ?? 60 : 60)
            }
        guard hours < 24, minutes < 60 else { return nil }
        return (sign == "-" ? -60 : 60) * (hours * 60 + minutes)
    }
}

extension PropertyListValue {
    /// Returns the identifier, also from the dictionary to which `Codable` encodes a locale or a time zone.
    fileprivate func identifier(as type: Any.Type) throws(PreferenceError) -> String {
        guard case .dictionary(let members) = self, case .string(let identifier)? = members["identifier"] else {
            return try string(as: type)
        }
        return identifier
    }
}

extension Decimal: PreferenceValue {
    /// Creates a decimal number from its decimal text, an integer or a real, of which the shortest decimal text counts: 0.1 is a tenth.
    public init(storedValue: PropertyListValue) throws {
        switch storedValue {
        case .integer(let value): self.init(value)
        case .unsigned(let value): self.init(value)
        default:
            let text =
                if case .real(let value) = storedValue { value.description } else {
                    try storedValue.string(as: Decimal.self)
                }
            if text == Decimal.nan.description {
                self = .nan
                return
            }
            // Foundation's parser stops at an unknown character and returns the number before it; Double's rejects the text.
            let isNumber = Double(text) != nil && text.utf8.allSatisfy { "+-.eE0123456789".utf8.contains($0) }
            guard isNumber, let value = Decimal(string: text) else { throw storedValue.mismatch(Decimal.self) }
            self = value
        }
    }

    /// Returns the decimal text.
    public func storedValue() -> PropertyListValue? { .string(description) }
}

extension Duration: PreferenceValue {
    /// Creates a duration from its seconds, as decimal text with up to 18 digits after the point, an integer or a real; from such text
    /// with a unit, `ns`, `us`, `ms`, `s`, `m`, `min` or `h`, as in `10s`; or from the array of two halves to which `Codable` encodes a
    /// duration.
    public init(storedValue: PropertyListValue) throws {
        let duration: Duration? =
            switch storedValue {
            case .string(let text): Duration(seconds: text) ?? Duration(withUnit: text)
            case .integer(let value): Duration(attoseconds: Int128(value) * .attosecondsPerSecond)
            case .unsigned(let value): Duration(attoseconds: Int128(value) * .attosecondsPerSecond)
            case .real(let value): Duration(seconds: value)
            case .array(let halves): Duration(halves)
            default: nil
            }
        guard let duration else { throw storedValue.mismatch(Duration.self) }
        self = duration
    }

    /// Returns the seconds as decimal text, exact to the attosecond.
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

    /// Creates a duration from the upper and the lower 64 bits of its attoseconds.
    private init?(_ halves: [PropertyListValue]) {
        guard halves.count == 2, case .integer(let upper) = halves[0] else { return nil }
        switch halves[1] {
        case .integer(let lower) where lower >= 0: self.init(attoseconds: Int128(upper) << 64 | Int128(lower))
        case .unsigned(let lower): self.init(attoseconds: Int128(upper) << 64 | Int128(lower))
        default: return nil
        }
    }

    /// Creates a duration from text such as "10s" or "1.5 min"; exact, or nil.
    private init?(withUnit text: String) {
        let number = text.prefix { $0 == "-" || $0 == "." || $0.isNumber }
        let unit = text[number.endIndex...].drop { $0 == " " }
        let attoseconds: Int128? =
            switch unit {
            case "ns": 1_000_000_000
            case "us", "µs", "μs": 1_000_000_000_000
            case "ms": 1_000_000_000_000_000
            case "s", "sec", "second", "seconds": .attosecondsPerSecond
            case "m", "min", "minute", "minutes": 60 * .attosecondsPerSecond
            case "h", "hour", "hours": 3600 * .attosecondsPerSecond
            default: nil
            }
        guard let attoseconds, let count = Duration(seconds: String(number)) else { return nil }
        let (product, isTooLarge) = count.attoseconds.multipliedReportingOverflow(
            by: attoseconds >= .attosecondsPerSecond ? attoseconds / .attosecondsPerSecond : 1
        )
        guard !isTooLarge else { return nil }
        guard attoseconds < .attosecondsPerSecond else {
            self.init(attoseconds: product)
            return
        }
        let divisor = .attosecondsPerSecond / attoseconds
        guard product.isMultiple(of: divisor) else { return nil }
        self.init(attoseconds: product / divisor)
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
                // Negative numbers are counted down from zero, because `Int128.min` has no positive counterpart.
                let (sum, overflows) =
                    isNegative ? product.subtractingReportingOverflow(value) : product.addingReportingOverflow(value)
                guard !isTooLarge, !overflows else { return nil }
                attoseconds = sum
            }
        }
        self.init(attoseconds: attoseconds)
    }

    /// Creates the duration of the shortest decimal text of the real, so that 0.1 is exactly a tenth; else the nearest duration.
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
    /// Creates a URL from the form in which user defaults keep it, the absolute path of a file; returns `nil` for other forms.
    init?(fromUserDefaults stored: PropertyListValue) throws {
        guard case .string(let path) = stored, path.hasPrefix("/") else { return nil }
        // The hint avoids a look at the disk, which would give another URL for a folder that was removed.
        self.init(filePath: path, directoryHint: .inferFromPath)
    }
}
#endif
