// The members of a value, and values of `Codable` types as stored values.

extension PropertyListValue {
    /// The value of a dictionary under a key, or `nil` if it has none or the value is no dictionary.
    ///
    ///     store["frame"]?[member: "width"] = 800
    ///
    /// Setting `nil` removes the key. Setting a member of another kind than a dictionary does nothing.
    public subscript(member key: String) -> PropertyListValue? {
        get {
            guard case .dictionary(let members) = self else { return nil }
            return members[key]
        }
        set {
            guard case .dictionary(var members) = self else { return }
            members[key] = newValue
            self = .dictionary(members)
        }
    }

    /// Creates the form in which a `Codable` value is stored: nested values, with dates, data and 64-bit integers as such.
    ///
    /// - Throws: `unencodable` if the value can't be stored, or is `nil`.
    public init(encoding value: some Encodable) throws(PreferenceError) {
        guard let stored = try PropertyListCoder.encode(value) else {
            throw PreferenceError(.unencodable, "nil has no stored form; remove the value instead")
        }
        self = stored
    }

    /// Returns the value of a `Codable` type in its stored form.
    ///
    /// - Throws: `unreadable` if the value can't be decoded as the type; `codingPath` leads to the part that can't.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(PreferenceError) -> Value {
        try PropertyListCoder.decode(type, from: self)
    }
}
