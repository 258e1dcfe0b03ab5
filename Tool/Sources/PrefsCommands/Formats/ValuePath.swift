import Preferences

/// A name on the command line: a preference's, or with dots that of a member of its value, as in `frame.x`.
struct ValuePath {
    /// The preference's name.
    let name: String
    /// The members' keys, the outermost first; empty for the value itself.
    let keys: [String]

    /// Takes a whole word for a name if it is set or declared; else what stands before one of its dots, of several the longest that
    /// is a dictionary.
    ///
    /// A word without a dictionary before a dot is a name.
    init(_ word: String, _ schema: Schema?, in values: (String) -> PropertyListValue?) {
        let dots = word.indices.filter { word[$0] == "." }
        if values(word) == nil, schema?.properties[word] == nil {
            for dot in dots.reversed() {
                let name = String(word[..<dot])
                let keys = word[word.index(after: dot)...].split(separator: ".", omittingEmptySubsequences: false)
                guard !name.isEmpty, !keys.contains("") else { continue }
                let declared = schema?.properties[name]
                if declared?.types != ["object"] {
                    guard case .dictionary? = values(name) ?? declared?.defaultValue else { continue }
                }
                self.name = name
                self.keys = keys.map(String.init)
                return
            }
        }
        name = word
        keys = []
    }

    /// Returns what stands at the path in the preference's value.
    func member(of value: PropertyListValue?) -> PropertyListValue? {
        var (value, rest) = (value, keys[...])
        while !rest.isEmpty {
            guard case .dictionary(let members)? = value else { return nil }
            value = members[Self.takeKey(of: members, from: &rest)]
        }
        return value
    }

    /// Returns the preference's value with another one at the path, or with none.
    ///
    /// - Throws: If there is something else than a dictionary on the way.
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
            throw Failure(.usage, "\"\(place)\" is of type \(type) and no dictionary, so it has no member \"\(rest)\"")
        }
        var rest = keys
        let key = takeKey(of: members, from: &rest)
        members[key] = try changing(members[key], at: rest, to: new, inside: "\(place).\(key)")
        return .dictionary(members)
    }

    /// Takes the keys that are one of a dictionary, which may have dots in it; else the first.
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
