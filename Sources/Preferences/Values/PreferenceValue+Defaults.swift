extension PreferenceValue where Self: RawRepresentable, RawValue: PreferenceValue {
    /// Takes the raw value; one that the type doesn't know throws.
    public init(storedValue: PropertyListValue) throws { self = try Self(storedRawValue: storedValue) }
    /// The raw value.
    public func storedValue() throws -> PropertyListValue? { try rawValue.storedValue() }
}

extension PreferenceValue where Self: Codable {
    /// Takes nested stored values.
    public init(storedValue: PropertyListValue) throws {
        self = try PropertyListCoder.decode(Self.self, from: storedValue)
    }

    /// Nested stored values.
    public func storedValue() throws -> PropertyListValue? { try PropertyListCoder.encode(self) }
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
