/// A type that defines its own stored form.
///
/// The standard library's types and Foundation's common ones conform. A `RawRepresentable` or `Codable` type needs no code to
/// conform: it is stored as its raw value or, without one, as nested stored values.
///
///     enum Theme: String, PreferenceValue { case light, dark }
public protocol PreferenceValue: Sendable {
    /// Creates a value from its stored form. May be called on any thread.
    ///
    /// - Throws: An error if `storedValue` is of another type or out of range. The library's types throw `unreadable` and never round
    ///   or truncate a value to make it fit, except that `Float` and `Duration` round a real.
    init(storedValue: PropertyListValue) throws

    /// Returns the stored form, or `nil` for a value that is not set, which removes the stored value. May be called on any thread.
    func storedValue() throws -> PropertyListValue?
}

/// A protocol that only `Optional` conforms to, for the library's constraints. Don't conform to it.
public protocol _OptionalPreferenceValue: ExpressibleByNilLiteral {
    /// The type of the value when it is set.
    associatedtype Wrapped
    /// The value when it is set.
    var wrapped: Wrapped? { get }
    /// Creates a value that is set.
    init(_ wrapped: Wrapped)
}

extension Optional: _OptionalPreferenceValue {
    /// The optional itself.
    public var wrapped: Wrapped? { self }
}

extension Bool: PreferenceValue {
    /// Creates a boolean from a boolean or one of the integers 0 and 1.
    public init(storedValue: PropertyListValue) throws { self = try storedValue.boolean() }
    /// Returns a boolean.
    public func storedValue() -> PropertyListValue? { .boolean(self) }
}

extension PreferenceValue where Self: FixedWidthInteger & Codable {
    /// Creates an integer from an integer, or a real without a fraction, in the range of the type; never from a boolean.
    public init(storedValue: PropertyListValue) throws { self = try storedValue.integer(Self.self) }

    /// Returns an integer, or a string of decimal digits if the value doesn't fit 64 bits.
    public func storedValue() -> PropertyListValue? {
        if let value = Int64(exactly: self) { return .integer(value) }
        if let value = UInt64(exactly: self) { return .unsigned(value) }
        return .string(description)
    }
}

extension Int: PreferenceValue {}
extension Int8: PreferenceValue {}
extension Int16: PreferenceValue {}
extension Int32: PreferenceValue {}
extension Int64: PreferenceValue {}
extension UInt: PreferenceValue {}
extension UInt8: PreferenceValue {}
extension UInt16: PreferenceValue {}
extension UInt32: PreferenceValue {}
extension UInt64: PreferenceValue {}
extension Int128: PreferenceValue {}
extension UInt128: PreferenceValue {}

extension Double: PreferenceValue {
    /// Creates a number from a real, or from an integer that a `Double` represents exactly.
    public init(storedValue: PropertyListValue) throws { self = try storedValue.real() }
    /// Returns a real.
    public func storedValue() -> PropertyListValue? { .real(self) }
}

extension Float: PreferenceValue {
    /// Creates a number from a real, or from an integer that a `Double` represents exactly, rounded to the nearest `Float`.
    ///
    /// Throws if a finite number overflows.
    public init(storedValue: PropertyListValue) throws {
        let real = try storedValue.real(as: Float.self)
        self = Float(real)
        guard isFinite || !real.isFinite else { throw storedValue.mismatch(Float.self) }
    }

    /// Returns the real of the shortest decimal text: 0.1 for a `Float` of 0.1.
    public func storedValue() -> PropertyListValue? {
        let short = Double(description) ?? Double(self)
        return .real(Float(short) == self ? short : Double(self))
    }
}

extension String: PreferenceValue {
    /// Creates a string from a string.
    public init(storedValue: PropertyListValue) throws { self = try storedValue.string() }
    /// Returns a string.
    public func storedValue() -> PropertyListValue? { .string(self) }
}

extension Character: PreferenceValue {
    /// Creates a character from a string of one character.
    public init(storedValue: PropertyListValue) throws {
        let text = try storedValue.string(as: Character.self)
        guard let character = text.first, text.index(after: text.startIndex) == text.endIndex else {
            throw storedValue.mismatch(Character.self)
        }
        self = character
    }

    /// Returns a string of one character.
    public func storedValue() -> PropertyListValue? { .string(String(self)) }
}

extension PropertyListValue: PreferenceValue {
    /// Creates a copy of the stored value.
    public init(storedValue: PropertyListValue) { self = storedValue }
    /// Returns the value itself.
    public func storedValue() -> PropertyListValue? { self }
}

extension PreferenceValue where Self: RawRepresentable, RawValue: PreferenceValue {
    /// Creates a value from its raw value; throws if the type has no value for it.
    public init(storedValue: PropertyListValue) throws { self = try Self(storedRawValue: storedValue) }
    /// Returns the stored form of the raw value.
    public func storedValue() throws -> PropertyListValue? { try rawValue.storedValue() }
}

extension PreferenceValue where Self: RawRepresentable & Codable, RawValue: PreferenceValue {
    /// Creates a value from its raw value; throws if the type has no value for it.
    public init(storedValue: PropertyListValue) throws { self = try Self(storedRawValue: storedValue) }
    /// Returns the stored form of the raw value.
    public func storedValue() throws -> PropertyListValue? { try rawValue.storedValue() }
}

extension RawRepresentable where RawValue: PreferenceValue {
    init(storedRawValue stored: PropertyListValue) throws {
        guard let value = Self(rawValue: try RawValue(storedValue: stored)) else {
            throw PreferenceError(.unreadable, "\(Self.self) has no case for \(stored.summary)")
        }
        self = value
    }
}
