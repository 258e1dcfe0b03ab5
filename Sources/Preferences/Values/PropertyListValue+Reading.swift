extension PropertyListValue {
    /// The boolean; the integers 0 and 1 are taken for one.
    func boolean() throws(PreferencesError) -> Bool {
        switch self {
        case .boolean(let value): return value
        case .integer(0), .unsigned(0): return false
        case .integer(1), .unsigned(1): return true
        default: throw mismatch(Bool.self)
        }
    }

    /// The integer, also of a real that is one; out of range throws.
    func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws(PreferencesError) -> Integer {
        let value: Integer? =
            switch self {
            case .integer(let value): Integer(exactly: value)
            case .unsigned(let value): Integer(exactly: value)
            case .real(let value): Integer(exactly: value)
            case .string(let text) where Integer.bitWidth > 64: Integer(text)  // how what 64 bits don't hold is stored
            default: nil
            }
        guard let value else { throw mismatch(type) }
        return value
    }

    /// The real, also of an integer that a real holds exactly.
    func real(as type: Any.Type = Double.self) throws(PreferencesError) -> Double {
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

    /// The string, and nothing that is only like one.
    func string(as type: Any.Type = String.self) throws(PreferencesError) -> String {
        guard case .string(let value) = self else { throw mismatch(type) }
        return value
    }

    /// The array's elements.
    func elements(as type: Any.Type) throws(PreferencesError) -> [PropertyListValue] {
        guard case .array(let elements) = self else { throw mismatch(type) }
        return elements
    }

    /// The dictionary's members.
    func members(as type: Any.Type) throws(PreferencesError) -> [String: PropertyListValue] {
        guard case .dictionary(let members) = self else { throw mismatch(type) }
        return members
    }

    /// The error of a value that is not one of `type`.
    func mismatch(_ type: Any.Type) -> PreferencesError {
        PreferencesError(.unreadable, "expected \(type), found \(summary)")
    }

    /// The integer that a string is the plain text of.
    var integerInText: PropertyListValue? {
        guard case .string(let text) = self else { return nil }
        if let value = Int64(text) { return .integer(value) }
        return UInt64(text).map { .unsigned($0) }
    }
}
