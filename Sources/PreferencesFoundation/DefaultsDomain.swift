#if canImport(Darwin)
internal import Foundation
@_spi(Tool) public import Preferences

/// A domain of user defaults with all its values, for the tool `prefs`; SPI, not part of the public API.
@_spi(Tool)
public struct DefaultsDomain {
    private let name: String
    private let defaults: UserDefaults

    /// The folder with a file for each domain.
    public static var folder: String { NSHomeDirectory() + "/Library/Preferences" }

    /// Creates a domain, which need not have a value.
    ///
    /// - Throws: `invalidName` for the domain of this program and the global one, which user defaults don't open by name.
    public init(_ name: String) throws(PreferenceError) {
        guard !name.isEmpty, name != UserDefaults.globalDomain, let defaults = UserDefaults(suiteName: name) else {
            throw PreferenceError(
                .invalidName,
                "user defaults open no domain named \"\(name)\"; use defaults(1) for it"
            )
        }
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
            do throws(PreferenceError) { values[name] = try PropertyListValue(propertyListObject: object) } catch {
                throw PreferenceError(error.code, name: name, error.message)
            }
        }
        return values
    }
}
#endif
