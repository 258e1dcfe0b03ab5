// Values with a meaning of their own.

extension PropertyListValue {
    /// The value that is stored for `nil` where a weaker layer has a value: nothing is set, so that the default is read.
    ///
    /// An ordinary dictionary, so that programs that don't know it keep it.
    static let unset: PropertyListValue = .dictionary(["$unset": .boolean(true)])

    /// Whether this is the value that is stored for `nil`.
    package var isUnset: Bool {
        guard case .dictionary(let members) = self, members.count == 1 else { return false }
        return members["$unset"] == .boolean(true)
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
