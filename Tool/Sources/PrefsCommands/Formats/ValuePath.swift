import Preferences
import PreferencesInspection
import PreferencesSchema

/// A name on the command line: of a preference or, with dots, of a member of its value, as in `frame.x`.
struct ValuePath {
    /// The preference's name.
    let name: String
    /// The members' keys, the outermost first; empty for the value itself.
    let keys: [String]

    /// Creates the path that a word means.
    ///
    /// The whole word is the name if it is set or declared. Otherwise the name is the longest part before a dot whose value is a
    /// dictionary, or the whole word if no part has one.
    init(_ word: String, _ schema: Schema?, in values: (String) -> PropertyListValue?) {
        let dots = word.indices.filter { word[$0] == "." }
        if values(word) == nil, schema?.properties[word] == nil {
            for dot in dots.reversed() {
                let name = String(word[..<dot])
                let keys = word[word.index(after: dot)...].split(separator: ".", omittingEmptySubsequences: false)
                guard !name.isEmpty, !keys.contains("") else { continue }
                let declared = schema?.property(of: name)
                if declared?.types != ["object"] {
                    guard case .dictionary? = values(name)?.unlessUnset ?? declared?.defaultValue else { continue }
                }
                self.name = name
                self.keys = keys.map(String.init)
                return
            }
        }
        name = word
        keys = []
    }

    /// Returns the declaration of the preference, or of the member of its value; `nil` if the schema doesn't have it.
    func property(in schema: Schema?) -> Schema.Property? {
        keys.reduce(schema?.property(of: name)) { $0?.property(of: $1) }
    }

    /// Returns the part of the preference's value at the path, or `nil` if the value has no such part.
    func member(of value: PropertyListValue?) -> PropertyListValue? {
        var (value, rest) = (value, keys[...])
        while !rest.isEmpty {
            guard case .dictionary(let members)? = value?.unlessUnset else { return nil }
            value = members[Self.takeKey(of: members, from: &rest)]
        }
        return value
    }

    /// Returns the preference's value with another value at the path, or without one if `new` is `nil`.
    ///
    /// - Throws: A `Failure` if a value on the way isn't a dictionary.
    func changing(_ value: PropertyListValue?, to new: PropertyListValue?) throws -> PropertyListValue? {
        try Self.changing(value, at: keys[...], to: new, inside: name)
    }

    private static func changing(
        _ value: PropertyListValue?,
        at keys: ArraySlice<String>,
        to new: PropertyListValue?,
        inside place: String
    ) throws -> PropertyListValue? {
        guard !keys.isEmpty else { return new }
        guard case .dictionary(var members) = value ?? [:] else {
            let (type, rest) = (value?.kind ?? "", keys.joined(separator: "."))
            throw Failure(.usage, "\"\(place)\" is of type \(type), not a dictionary, so it has no member \"\(rest)\"")
        }
        var rest = keys
        let key = takeKey(of: members, from: &rest)
        members[key] = try changing(members[key], at: rest, to: new, inside: "\(place).\(key)")
        return .dictionary(members)
    }

    /// Removes and returns the first key; it joins as many keys as form a key of the dictionary, which may contain dots.
    private static func takeKey(
        of members: [String: PropertyListValue],
        from keys: inout ArraySlice<String>
    ) -> String {
        for count in stride(from: keys.count, to: 1, by: -1) {
            let key = keys.prefix(count).joined(separator: ".")
            guard members[key] != nil else { continue }
            keys = keys.dropFirst(count)
            return key
        }
        return keys.removeFirst()
    }
}
