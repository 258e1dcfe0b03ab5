#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension PropertyListValue {
    /// Returns the boolean of a boolean or one of the integers 0 and 1.
    func boolean() throws(PreferenceError) -> Bool {
        switch self {
        case .boolean(let value): return value
        case .integer(0), .unsigned(0): return false
        case .integer(1), .unsigned(1): return true
        default: throw mismatch(Bool.self)
        }
    }

    /// Returns the integer of an integer, or of a real without a fraction, in the range of the type.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws(PreferenceError) -> Integer {
        let value = integer.flatMap { Integer(exactly: $0) } ?? (Integer.bitWidth > 64 ? wideInteger() : nil)
        guard let value else { throw mismatch(type) }
        return value
    }

    // Not generic, as conversions of reals are long: each integer type would have its own.
    private var integer: Int128? {
        switch self {
        case .integer(let value): Int128(value)
        case .unsigned(let value): Int128(value)
        case .real(let value): Int128(exactly: value)
        default: nil
        }
    }

    /// Returns the integer of a string, the form of integers beyond 64 bits, or of a real beyond `Int128`.
    @_semantics("optimize.sil.specialize.generic.never")
    private func wideInteger<Integer: FixedWidthInteger>() -> Integer? {
        switch self {
        case .string(let text): Integer(text)
        case .real(let value): Integer(exactly: value)
        default: nil
        }
    }

    /// Returns the real of a real, or of an integer that a `Double` represents exactly.
    func real(as type: Any.Type = Double.self) throws(PreferenceError) -> Double {
        let value: Double? =
            switch self {
            case .real(let value): value
            case .integer(let value): Double(exactly: value)
            case .unsigned(let value): Double(exactly: value)
            default: nil
            }
        guard let value else { throw mismatch(type) }
        return value
    }

    /// Returns the string of a string, without converting other kinds.
    func string(as type: Any.Type = String.self) throws(PreferenceError) -> String {
        guard case .string(let value) = self else { throw mismatch(type) }
        return value
    }

    /// Returns the elements of an array.
    func elements(as type: Any.Type) throws(PreferenceError) -> [PropertyListValue] {
        guard case .array(let elements) = self else { throw mismatch(type) }
        return elements
    }

    /// Returns the members of a dictionary.
    func members(as type: Any.Type) throws(PreferenceError) -> [String: PropertyListValue] {
        guard case .dictionary(let members) = self, textOfUnknownForm == nil else { throw mismatch(type) }
        return members
    }

    /// Returns how values of a type are written by hand, if that can't be guessed.
    package static func form(of type: Any.Type) -> String? {
        if let form = forms[ObjectIdentifier(type)] { return form }
        if type is any StoredAsDictionary.Type { return #"{"name":…}"# }
        guard let list = type as? any StoredAsArray.Type else { return nil }
        return list.elementType is any Numeric.Type ? "[1,2]" : #"["a","b"]"#
    }

    /// Returns the error of a value that can't be decoded as `type`; it shows the form of a type that has one of its own.
    func mismatch(_ type: Any.Type) -> PreferenceError {
        let form = Self.form(of: type).map { "; write \($0)" } ?? ""
        return PreferenceError(.unreadable, "expected \(type), found \(summary)" + form)
    }

    /// The forms of values that are written by hand, of types for which they can't be guessed.
    private static let forms: [ObjectIdentifier: String] = [
        ObjectIdentifier(Bool.self): "true or false",
        ObjectIdentifier(Date.self): "\"2026-11-25T09:30:00Z\"",
        ObjectIdentifier(Data.self): "Base64 text",
        ObjectIdentifier(Duration.self): "seconds, \"10s\" or \"5m\"",
        ObjectIdentifier(UUID.self): "\"01234567-89AB-CDEF-0123-456789ABCDEF\"",
        ObjectIdentifier(TimeZone.self): "\"Europe/Berlin\" or \"GMT+0130\"",
    ]

    /// The integer that a string represents in decimal.
    var integerInText: PropertyListValue? {
        guard case .string(let text) = self else { return nil }
        if let value = Int64(text) { return .integer(value) }
        return UInt64(text).map { .unsigned($0) }
    }

    /// The boolean of a string that a person writes for one, in uppercase or lowercase.
    package var booleanInText: Bool? {
        guard case .string(let text) = self else { return nil }
        switch text.lowercased() {
        case "true", "yes", "on", "1": return true
        case "false", "no", "off", "0": return false
        default: return nil
        }
    }
}

extension String {
    /// Whether the text was probably meant as a boolean, although it may be none.
    var isLikeBoolean: Bool {
        let words = ["y", "n", "t", "f", "enable", "disable", "enabled", "disabled"]
        return PropertyListValue.string(self).booleanInText != nil || words.contains(lowercased())
    }
}

/// The form of `nil` inside arrays and dictionaries, which can't hold it.
///
/// As in Foundation's `PropertyListEncoder` it is the string `$null`. To distinguish strings from it, a string `null` after one or more
/// dollars gets another dollar, which is removed when it is read.
extension PropertyListValue {
    /// Creates the form of a value inside an array or a dictionary.
    init(nested value: PropertyListValue?) {
        switch value {
        case nil: self = .string("$null")
        case .string(let text) where text.isNullWithDollars: self = .string("$" + text)
        case let value?: self = value
        }
    }

    /// Whether the value, inside an array or a dictionary, represents `nil`, for a type that has it.
    var isNestedNil: Bool {
        guard case .string(let text) = self else { return false }
        return text.utf8.count == 5 && text == "$null"
    }

    /// The value without the dollar that `init(nested:)` has added; `$null` itself is unchanged.
    var unnested: PropertyListValue {
        guard case .string(let text) = self, text.isNullWithDollars, text.utf8.count > 5 else { return self }
        return .string(String(text.dropFirst()))
    }
}

extension String {
    fileprivate var isNullWithDollars: Bool {
        guard utf8.first == UInt8(ascii: "$"), utf8.count >= 5, utf8.suffix(4).elementsEqual("null".utf8) else {
            return false
        }
        return utf8.dropLast(4).allSatisfy { $0 == UInt8(ascii: "$") }
    }
}

/// Returns the `nil` value of a type that has one, or `nil`.
// Never specialized: Swift 6.3's optimizer crashes (SILCombine) on the casts of a specialization for `URL?`.
@_semantics("optimize.sil.specialize.generic.never")
package func nilValue<Value>(of type: Value.Type) -> Value? {
    func open<Literal: ExpressibleByNilLiteral>(_: Literal.Type) -> Value? {
        let value: Literal = nil
        return reinterpreted(value, as: type)
    }
    guard let literal = type as? any ExpressibleByNilLiteral.Type else { return nil }
    return open(literal)
}

/// Returns the value as `Target` if that is its static type, or `nil`; unlike `as?` it doesn't look into optionals and costs only a
/// comparison.
@inline(__always)
func reinterpreted<Value, Target>(_ value: Value, as type: Target.Type) -> Target? {
    Value.self == type ? unsafeBitCast(value, to: type) : nil
}

extension PropertyListValue {
    /// Returns the values that a text may represent in addition to a string and JSON, which every coding reads: a boolean or a date.
    package static func readings(of text: String) -> [PropertyListValue] {
        if let value = PropertyListValue.string(text).booleanInText { return [.boolean(value)] }
        return DateText.seconds(of: text, allowsOffset: true).map { [.date(Date(timeIntervalSinceReferenceDate: $0))] }
            ?? []
    }
}

extension PropertyListValue {
    /// The exact ISO 8601 text of a date, which `readings(of:)` reads; `nil` for other kinds and for years without such a text.
    package var dateText: String? {
        guard case .date(let date) = self else { return nil }
        return DateText.text(forSeconds: date.timeIntervalSinceReferenceDate)
    }
}

extension PropertyListValue: ExpressibleByBooleanLiteral {
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension PropertyListValue: ExpressibleByIntegerLiteral {
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension PropertyListValue: ExpressibleByFloatLiteral {
    /// Creates a real.
    public init(floatLiteral value: Double) { self = .real(value) }
}

extension PropertyListValue: ExpressibleByStringLiteral {
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension PropertyListValue: ExpressibleByArrayLiteral {
    /// Creates an array.
    public init(arrayLiteral elements: PropertyListValue...) { self = .array(elements) }
}

extension PropertyListValue: ExpressibleByDictionaryLiteral {
    /// Creates a dictionary; of equal keys, the last one is kept.
    public init(dictionaryLiteral elements: (String, PropertyListValue)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }
}

extension PropertyListValue {
    /// Returns whether the value precedes another in the order in which the elements of sets are stored.
    ///
    /// The order is total and has no meaning, except that equal sets have equal stored values.
    func precedes(_ other: PropertyListValue) -> Bool {
        switch (self, other) {
        case (.boolean(let left), .boolean(let right)): !left && right
        case (.integer(let left), .integer(let right)): left < right
        case (.integer(let left), .unsigned(let right)): left < right
        case (.unsigned(let left), .integer(let right)): left < right
        case (.unsigned(let left), .unsigned(let right)): left < right
        case (.real(let left), .real(let right)): left.orderedBits < right.orderedBits
        case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.data(let left), .data(let right)): left.lexicographicallyPrecedes(right)
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.orderedBits < right.timeIntervalSinceReferenceDate.orderedBits
        case (.array(let left), .array(let right)):
            left.lexicographicallyPrecedes(right) { $0.precedes($1) }
        case (.dictionary(let left), .dictionary(let right)):
            left.sortedByBytes.lexicographicallyPrecedes(right.sortedByBytes) { left, right in
                if left.key != right.key { return left.key < right.key }
                return left.value.precedes(right.value)
            }
        default: rank < other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .boolean: 0
        case .integer, .unsigned: 1
        case .real: 2
        case .string: 3
        case .data: 4
        case .date: 5
        case .array: 6
        case .dictionary: 7
        }
    }
}

extension [PropertyListValue] {
    /// The indices in the order of the elements.
    // One sort serves all: each closure would compile its own.
    @inline(never)
    var order: [Int] { indices.sorted { self[$0].precedes(self[$1]) } }

    /// The elements in their order.
    var inOrder: [PropertyListValue] { order.map { self[$0] } }
}

extension Double {
    /// An integer with the order of the numbers, with `-0.0` before `0.0` and all NaNs equal and last.
    fileprivate var orderedBits: Int64 {
        if isNaN { return .max }
        let bits = Int64(bitPattern: bitPattern)
        return bits < 0 ? ~(bits & .max) : bits
    }
}
