/// How a `Value` becomes a stored value and back.
///
/// Two declarations of one name that share the value's type and the coding's identifier share their decoded value too,
/// so give codings that differ different identifiers.
public struct PreferenceCoding<Value>: Sendable {
    /// Tells this coding from others of the same type.
    public let identifier: String
    /// What to store for a value; nil means not set, and removes.
    public let encode: @Sendable (Value) throws -> PropertyListValue?
    /// The value of what is stored; nil counts as absent, an error as unreadable.
    public let decode: @Sendable (PropertyListValue) throws -> Value?

    /// Makes a coding of one's own.
    ///
    /// Both closures may run on any thread, several at once, and must not use the store.
    public init(
        _ identifier: String,
        encode: @escaping @Sendable (Value) throws -> PropertyListValue?,
        decode: @escaping @Sendable (PropertyListValue) throws -> Value?
    ) {
        self.identifier = identifier
        self.encode = encode
        self.decode = decode
    }
}
