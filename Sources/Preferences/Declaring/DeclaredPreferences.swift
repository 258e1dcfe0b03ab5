/// A preference whatever its type, as one finds it in a group.
protocol AnyPreference {
    var name: String { get }
    var anyDeclaration: AnyObject { get }
    /// What its declaration says of the stored value, as JSON Schema puts it.
    func schema() throws(PreferencesError) -> [String: PropertyListValue]
}

extension Preference: AnyPreference {
    var anyDeclaration: AnyObject { declaration }
}

/// The preferences that a group holds, nested groups included.
enum DeclaredPreferences {
    /// In the order of declaration.
    static func all(in group: Any) -> [any AnyPreference] {
        var found: [any AnyPreference] = []
        var seen: Set<ObjectIdentifier> = []
        collect(from: group, into: &found, seen: &seen, depth: 0)
        return found
    }

    private static func collect(
        from value: Any,
        into found: inout [any AnyPreference],
        seen: inout Set<ObjectIdentifier>,
        depth: Int
    ) {
        if let preference = value as? any AnyPreference {
            found.append(preference)
            return
        }
        // Objects may know each other in circles.
        if type(of: value) is AnyClass, !seen.insert(ObjectIdentifier(value as AnyObject)).inserted { return }
        guard depth < 16 else { return }
        for child in Mirror(reflecting: value).children {
            collect(from: child.value, into: &found, seen: &seen, depth: depth + 1)
        }
    }
}
