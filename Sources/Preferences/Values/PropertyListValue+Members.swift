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

extension PropertyListValue {
    /// The value that is stored for `nil` where a weaker layer has a value: nothing is set, so that the default is read.
    ///
    /// An ordinary dictionary, so that programs that don't know it keep it.
    static let unset: PropertyListValue = ["$unset": true]

    /// Whether this is the value that is stored for `nil`.
    package var isUnset: Bool {
        guard case .dictionary(let members) = self, members.count == 1 else { return false }
        return members["$unset"] == true
    }
}

extension PropertyListValue {
    /// Returns the value of a stored form that this version doesn't know, which no type can be decoded from.
    ///
    /// - Parameter text: The form as it is stored; it is written again as it is.
    package static func unknownForm(_ text: String) -> PropertyListValue {
        .dictionary([unknownFormKey: .string(text)])
    }

    /// The text of a form that this version doesn't know.
    package var textOfUnknownForm: String? {
        guard case .dictionary(let members) = self, members.count == 1,
            case .string(let text) = members[Self.unknownFormKey], text.utf8.first == UInt8(ascii: "{")
        else { return nil }
        return text
    }

    private static var unknownFormKey: String { "\0$" }
}
