#if canImport(SwiftUI)
public import Foundation
public import SwiftUI

// Apple's wrapper has an initializer for each type but no generic one, so there is one here for each of those. They create it
// from a declaration, for code that needs `AppStorage` itself; `PreferenceState` needs none of this.

extension Preference {
    /// The key of the preference in user defaults.
    fileprivate var appStorageKey: String { store.userDefaultsName(of: name) }

    /// Returns the user defaults that hold the preference as `AppStorage` expects it, or empty ones if a store in memory replaces them;
    /// traps if another store holds it.
    fileprivate func appStorage(coding: String, or other: String? = nil) -> UserDefaults {
        guard let defaults = store.userDefaults ?? store.volatileDefaults else {
            preconditionFailure("AppStorage works over user defaults only, and \"\(name)\" is in another store")
        }
        precondition(declaration.member == nil, "AppStorage can't hold a member of a value, as here of \"\(name)\"")
        precondition(
            [coding, other].contains(declaration.coding.identifier),
            "AppStorage stores \"\(name)\" in another way than it is declared: use the coding .\(coding)"
        )
        return defaults
    }
}

extension PreferenceStore {
    /// A suite that is empty when the process first uses it, if a store in memory is in the place of user defaults: in an app that hosts its
    /// own tests, in isolated stores and in a program that is started isolated; otherwise `nil`.
    fileprivate var volatileDefaults: UserDefaults? {
        guard let source = resolved.core.target, source.backend is MemoryBackend, shows(source) else {
            return nil
        }
        return VolatileSuite.defaults
    }

    /// Returns whether a source is that of a shared store, and not of a store in memory that the program itself layered over one.
    private func shows(_ source: Source) -> Bool {
        switch replacement {
        case nil: false
        case .memory: resolved.core.target === source
        case .layers(let stores): stores.contains { $0.shows(source) }
        case .scope(let store, prefix: _), .readOnly(let store, name: _): store.shows(source)
        }
    }
}

private enum VolatileSuite {
    private static let name = "swift-preferences.isolated"

    // "The UserDefaults class is thread-safe", says its documentation.
    nonisolated(unsafe) static let defaults: UserDefaults? = {
        let defaults = UserDefaults(suiteName: name)
        defaults?.removePersistentDomain(forName: name)
        return defaults
    }()
}

extension AppStorage {
    /// Creates the wrapper of a preference that is a boolean. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == Bool {
        let defaults = preference.appStorage(coding: "native")
        self.init(wrappedValue: preference.defaultValue, preference.appStorageKey, store: defaults)
    }

    /// Creates the wrapper of a preference that is an integer. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == Int {
        let defaults = preference.appStorage(coding: "native")
        self.init(wrappedValue: preference.defaultValue, preference.appStorageKey, store: defaults)
    }

    /// Creates the wrapper of a preference that is a real. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == Double {
        let defaults = preference.appStorage(coding: "native")
        self.init(wrappedValue: preference.defaultValue, preference.appStorageKey, store: defaults)
    }

    /// Creates the wrapper of a preference that is a string. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == String {
        let defaults = preference.appStorage(coding: "native")
        self.init(wrappedValue: preference.defaultValue, preference.appStorageKey, store: defaults)
    }

    /// Creates the wrapper of a preference that is data. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == Data {
        let defaults = preference.appStorage(coding: "native")
        self.init(wrappedValue: preference.defaultValue, preference.appStorageKey, store: defaults)
    }

    /// Creates the wrapper of a preference that is a date. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == Date {
        let defaults = preference.appStorage(coding: "native")
        self.init(wrappedValue: preference.defaultValue, preference.appStorageKey, store: defaults)
    }

    /// Creates the wrapper of a preference that is a URL. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == URL {
        let defaults = preference.appStorage(coding: "native", or: "archivedURL")
        self.init(wrappedValue: preference.defaultValue, preference.appStorageKey, store: defaults)
    }

    /// Creates the wrapper of a preference whose raw value is an integer. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value: RawRepresentable, Value.RawValue == Int {
        let defaults = preference.appStorage(coding: "rawValue")
        self.init(wrappedValue: preference.defaultValue, preference.appStorageKey, store: defaults)
    }

    /// Creates the wrapper of a preference whose raw value is a string. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value: RawRepresentable, Value.RawValue == String {
        let defaults = preference.appStorage(coding: "rawValue")
        self.init(wrappedValue: preference.defaultValue, preference.appStorageKey, store: defaults)
    }
}

// These initializers accept no default other than `nil`.

extension AppStorage where Value: ExpressibleByNilLiteral {
    /// Creates the wrapper of a preference that is a boolean, or nil. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == Bool? {
        self.init(preference.appStorageKey, store: preference.appStorage(coding: "native"))
    }

    /// Creates the wrapper of a preference that is an integer, or nil. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == Int? {
        self.init(preference.appStorageKey, store: preference.appStorage(coding: "native"))
    }

    /// Creates the wrapper of a preference that is a real, or nil. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == Double? {
        self.init(preference.appStorageKey, store: preference.appStorage(coding: "native"))
    }

    /// Creates the wrapper of a preference that is a string, or nil. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == String? {
        self.init(preference.appStorageKey, store: preference.appStorage(coding: "native"))
    }

    /// Creates the wrapper of a preference that is data, or nil. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == Data? {
        self.init(preference.appStorageKey, store: preference.appStorage(coding: "native"))
    }

    /// Creates the wrapper of a preference that is a date, or nil. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == Date? {
        self.init(preference.appStorageKey, store: preference.appStorage(coding: "native"))
    }

    /// Creates the wrapper of a preference that is a URL, or nil. Traps unless user defaults hold it.
    public init(_ preference: Preference<Value>) where Value == URL? {
        self.init(preference.appStorageKey, store: preference.appStorage(coding: "native", or: "archivedURL"))
    }
}

extension AppStorage {
    /// Creates the wrapper of a preference whose raw value is an integer, or nil. Traps unless user defaults hold it.
    public init<Raw: RawRepresentable>(_ preference: Preference<Value>) where Value == Raw?, Raw.RawValue == Int {
        self.init(preference.appStorageKey, store: preference.appStorage(coding: "rawValue"))
    }

    /// Creates the wrapper of a preference whose raw value is a string, or nil. Traps unless user defaults hold it.
    public init<Raw: RawRepresentable>(_ preference: Preference<Value>) where Value == Raw?, Raw.RawValue == String {
        self.init(preference.appStorageKey, store: preference.appStorage(coding: "rawValue"))
    }
}
#endif
