#if canImport(Darwin) || STANDINS
internal import Foundation
public import Preferences

/// A domain of user defaults with all its values, for the tool `prefs`.
public struct DefaultsDomain {
    private let name: String
    private let defaults: UserDefaults

    /// The folder with a file for each domain.
    public static var folder: String { NSHomeDirectory() + "/Library/Preferences" }

    /// Creates a domain, which need not have a value.
    ///
    /// - Throws: `invalidName` for a name that no suite can have.
    public init(_ name: String) throws(PreferenceError) {
        try SuiteLocation.check(name)
        try UserDefaultsSuite.check(name, ownDomain: Bundle.main.bundleIdentifier)
        guard let defaults = UserDefaults(suiteName: name) else {
            throw PreferenceError(.invalidName, "\"\(name)\" can't name a domain of user defaults; use another name")
        }
        self.init(name, defaults)
    }

    init(_ name: String, _ defaults: UserDefaults) {
        (self.name, self.defaults) = (name, defaults)
    }

    /// Returns the values that a program or the user has set, and an error for each that can't be decoded, sorted by name.
    public func own() -> (values: [String: PropertyListValue], problems: [PreferenceError]) {
        // Reads what other processes have written.
        defaults.synchronize()
        return values(defaults.persistentDomain(forName: name) ?? [:])
    }

    /// Returns the values that an administrator forces for this domain.
    ///
    /// - Throws: `unreadable` if one of them can't be decoded, as a policy is used whole.
    public func forced() throws(PreferenceError) -> [String: PropertyListValue] {
        // The dictionary has the values of all search lists; the forced ones of all programs aren't this domain's.
        let (values, problems) = values(
            defaults.dictionaryRepresentation().filter { defaults.objectIsForced(forKey: $0.key, inDomain: name) }
        )
        if let problem = problems.first { throw problem }
        return values
    }

    /// Stores changes; a `nil` value removes the name.
    ///
    /// - Throws: `notDurable` if the system doesn't confirm that they are stored.
    public func apply(_ changes: [String: PropertyListValue?]) throws(PreferenceError) {
        // Values first: an interrupted renaming must not lose one.
        for (name, value) in changes { if let value { defaults.set(value.propertyList, forKey: name) } }
        for (name, value) in changes where value == nil { defaults.removeObject(forKey: name) }
        guard defaults.synchronize() else {
            throw PreferenceError(.notDurable, "user defaults could not be synchronized; try again")
        }
    }

    private func values(_ objects: [String: Any]) -> (values: [String: PropertyListValue], problems: [PreferenceError])
    {
        var values: [String: PropertyListValue] = [:]
        var problems: [PreferenceError] = []
        for (name, object) in objects.sorted(by: { $0.key < $1.key }) where !name.isEmpty {
            if let value = PropertyListValue(propertyList: object) {
                values[name] = value
            } else {
                problems.append(
                    PreferenceError(
                        .unreadable,
                        name: name,
                        "the domain \"\(self.name)\" holds a \(type(of: object)), which can't be decoded; it is kept"
                    )
                )
            }
        }
        return (values, problems)
    }
}
#endif
