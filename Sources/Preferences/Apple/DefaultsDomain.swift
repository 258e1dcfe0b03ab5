#if canImport(Darwin) || STANDINS
internal import Foundation

/// A domain of user defaults with all its values, for the tool `prefs`; SPI, not part of the public API.
@_spi(Tool)
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
        // `UserDefaults` is nil only for names that the check rejects.
        self.init(name, UserDefaults(suiteName: name) ?? .standard)
    }

    init(_ name: String, _ defaults: UserDefaults) {
        (self.name, self.defaults) = (name, defaults)
    }

    /// Returns the values that a program or the user has set.
    public func own() throws(PreferenceError) -> [String: PropertyListValue] {
        // Reads what other processes have written.
        defaults.synchronize()
        return try Self.values(defaults.persistentDomain(forName: name) ?? [:])
    }

    /// Returns the values that an administrator forces.
    public func forced() throws(PreferenceError) -> [String: PropertyListValue] {
        try Self.values(defaults.dictionaryRepresentation().filter { defaults.objectIsForced(forKey: $0.key) })
    }

    /// Stores changes; a `nil` value removes the name.
    public func apply(_ changes: [String: PropertyListValue?]) {
        for (name, value) in changes {
            if let value { defaults.set(value.propertyList, forKey: name) } else { defaults.removeObject(forKey: name) }
        }
        defaults.synchronize()
    }

    private static func values(_ objects: [String: Any]) throws(PreferenceError) -> [String: PropertyListValue] {
        var values: [String: PropertyListValue] = [:]
        for (name, object) in objects where !name.isEmpty {
            guard let value = PropertyListValue(propertyList: object) else {
                throw PreferenceError(
                    .unreadable,
                    name: name,
                    "user defaults hold a \(type(of: object)), which can't be decoded"
                )
            }
            values[name] = value
        }
        return values
    }
}
#endif
