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
