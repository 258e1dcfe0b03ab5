/// A type that says itself how it is stored.
///
/// The standard types and Foundation's common ones conform. A `RawRepresentable` or `Codable` type that adopts the
/// protocol needs no code: it is stored as its raw value, else as nested stored values.
public protocol PreferenceValue: Sendable {
    /// Makes the value from what is stored.
    ///
    /// Throws where `storedValue` is of another type or out of range; nothing is ever rounded or cut to fit.
    init(storedValue: PropertyListValue) throws

    /// What to store; nil means not set, and removes.
    func storedValue() throws -> PropertyListValue?
}

/// `Optional` as a constraint of codings; for the library alone.
public protocol _OptionalPreferenceValue: ExpressibleByNilLiteral {
    /// The type of the value when it is set.
    associatedtype Wrapped
    /// The value when it is set.
    var wrapped: Wrapped? { get }
    /// Makes a value that is set.
    init(_ wrapped: Wrapped)
}

extension Optional: _OptionalPreferenceValue {
    /// The optional itself.
    public var wrapped: Wrapped? { self }
}

extension Bool: PreferenceValue {
    /// Takes a boolean, and the integers 0 and 1.
    public init(storedValue: PropertyListValue) throws { self = try storedValue.boolean() }
    /// A boolean.
    public func storedValue() -> PropertyListValue? { .boolean(self) }
}

extension PreferenceValue where Self: FixedWidthInteger & Codable {
    /// Takes an integer in range, and a real that is one; never a boolean.
    public init(storedValue: PropertyListValue) throws { self = try storedValue.integer(Self.self) }

    /// An integer; as decimal text where 64 bits don't hold it.
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
    /// Takes a real, and an integer that a real holds exactly.
    public init(storedValue: PropertyListValue) throws { self = try storedValue.real() }
    /// A real.
    public func storedValue() -> PropertyListValue? { .real(self) }
}

extension Float: PreferenceValue {
    /// Takes a real that doesn't overflow, rounded to the nearest, and an integer.
    public init(storedValue: PropertyListValue) throws {
        let real = try storedValue.real(as: Float.self)
        self = Float(real)
        guard isFinite || !real.isFinite else { throw storedValue.mismatch(Float.self) }
    }

    /// A real.
    public func storedValue() -> PropertyListValue? { .real(Double(self)) }
}

extension String: PreferenceValue {
    /// Takes a string.
    public init(storedValue: PropertyListValue) throws { self = try storedValue.string() }
    /// A string.
    public func storedValue() -> PropertyListValue? { .string(self) }
}

extension Character: PreferenceValue {
    /// Takes a string of one character.
    public init(storedValue: PropertyListValue) throws {
        let text = try storedValue.string(as: Character.self)
        guard let character = text.first, text.index(after: text.startIndex) == text.endIndex else {
            throw storedValue.mismatch(Character.self)
        }
        self = character
    }

    /// A string.
    public func storedValue() -> PropertyListValue? { .string(String(self)) }
}

extension PropertyListValue: PreferenceValue {
    /// The stored value itself.
    public init(storedValue: PropertyListValue) { self = storedValue }
    /// The value itself.
    public func storedValue() -> PropertyListValue? { self }
}

extension PreferenceValue where Self: RawRepresentable, RawValue: PreferenceValue {
    /// Takes the raw value; one that the type doesn't know throws.
    public init(storedValue: PropertyListValue) throws { self = try Self(storedRawValue: storedValue) }
    /// The raw value.
    public func storedValue() throws -> PropertyListValue? { try rawValue.storedValue() }
}

extension PreferenceValue where Self: RawRepresentable & Codable, RawValue: PreferenceValue {
    /// Takes the raw value; one that the type doesn't know throws.
    public init(storedValue: PropertyListValue) throws { self = try Self(storedRawValue: storedValue) }
    /// The raw value.
    public func storedValue() throws -> PropertyListValue? { try rawValue.storedValue() }
}

extension RawRepresentable where RawValue: PreferenceValue {
    init(storedRawValue stored: PropertyListValue) throws {
        guard let value = Self(rawValue: try RawValue(storedValue: stored)) else {
            throw PreferencesError(.unreadable, "\(Self.self) has no case for \(stored.summary)")
        }
        self = value
    }
}
