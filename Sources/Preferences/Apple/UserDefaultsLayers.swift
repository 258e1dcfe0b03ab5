#if canImport(Darwin) || STANDINS
internal import Foundation

extension Layer {
    /// Returns the layers of user defaults, the strongest first: the values that an administrator forces, the domain's own, which receive the
    /// writes, and those that are shown where it has none.
    static func userDefaults(_ backend: UserDefaultsBackend) -> [Layer] {
        let managed = Layer(
            source: Source(UserDefaultsPartBackend(.managed, of: backend)),
            name: "managed",
            isReadOnly: true,
            isManaged: true
        )
        let own = Layer(source: Source(backend))
        guard backend.defaults.weaker != nil else { return [managed, own] }
        let weaker = Source(UserDefaultsPartBackend(.weaker, of: backend))
        return [managed, own, Layer(source: weaker, name: "registered or global", isReadOnly: true)]
    }

    /// Returns the layer of the arguments that some user defaults show, whose strings are read as the declared type.
    ///
    /// User defaults show only `-name value`, and what the program put into the argument domain.
    ///
    /// - Parameter options: The options of the command line, for a store that reads them in all of their forms.
    static func arguments(above defaults: SharedUserDefaults, options: CommandLineValues? = nil) -> Layer {
        // Instead of the text, user defaults may show the property list that it is, or what the program set.
        let values = (options?.all ?? [:]).merging(defaults.arguments) { $0 == true ? $0 : $1 }
        // Unlisted, because the system adds values of its own.
        var layer = Layer(options: values, words: options?.words ?? []) { $0 }
        if options == nil { layer.optionPrefix = "-" }
        return layer
    }
}

/// The backend of a part of user defaults that isn't the domain's own, and is only read.
final class UserDefaultsPartBackend: Backend {
    let place = "user defaults"
    let isKeyed = true
    let saysWhenItWaits = true
    let isWritable = false
    private let part: UserDefaultsPart
    private let defaults: UserDefaultsBackend

    init(_ part: UserDefaultsPart, of defaults: UserDefaultsBackend) { (self.part, self.defaults) = (part, defaults) }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws(PreferenceError) -> [StoredChange]
    {
        try defaults.load(part, host: host)
        return []
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

    func values(for names: [String]?) -> [StoredChange] { defaults.values(part, for: names) }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        throw PreferenceError(
            .readOnly,
            "forced, registered and global user defaults are only read; nothing was changed"
        )
    }
}

/// The values that a read of a name in user defaults found.
struct FoundDefaults {
    enum Own {
        case known(PropertyListValue?)
        /// An argument or a forced value hides it.
        case hidden
        /// It may be there, as the value that is shown without it is the same.
        case unknown
    }

    var managed: PropertyListValue?
    var own: Own
    /// The value that is shown if the domain has none.
    var weaker: PropertyListValue?
    /// An object that is shown and that a preference can't hold.
    var invalid: Any?

    var isOwnKnown: Bool { if case .known = own { true } else { false } }
}

extension SharedUserDefaults {
    /// Reads a name: once if it has no value, and up to three times if it has one.
    ///
    /// User defaults show the value of the strongest domain without saying which. So the domain is asked alone: a value that isn't there is
    /// a registered one, or one of other domains, such as that of all users. If the domain's name isn't known, its value is told
    /// from those only by a difference.
    func read(_ name: String) -> FoundDefaults {
        let object = object.object(forKey: name)
        let isForced = self.object.objectIsForced(forKey: name)
        let shown = object.flatMap(PropertyListValue.init(propertyList:))
        var found = FoundDefaults(own: .known(shown), invalid: shown == nil ? object : nil)
        if let configuration, !isForced {
            // Read whole, as user defaults have it under one name.
            let managed = self.object.object(forKey: configuration) as? [String: Any]
            found.managed = managed?[name].flatMap(PropertyListValue.init(propertyList:))
        }
        guard object != nil else { return found }
        let isArgument = arguments[name] != nil
        let own = own.map { $0(name).flatMap(PropertyListValue.init(propertyList:)) }
        if isForced {
            (found.managed, found.own) = (shown, own.map { .known($0) } ?? .hidden)
            return found
        }
        if let own, own == nil, !isArgument {
            (found.own, found.weaker) = (.known(nil), shown)
            return found
        }
        let below = isArgument ? belowArguments?(name) : weaker?.object(forKey: name)
        found.weaker = below.flatMap(PropertyListValue.init(propertyList:))
        if let own {
            found.own = .known(own)
        } else if isArgument {
            found.own = .hidden
        } else if let shown, let weaker = found.weaker, shown.isSame(as: weaker) {
            found.own = .unknown
        }
        return found
    }

    /// Returns the values of the argument domain.
    func shown(ofArguments domain: [String: Any]) -> [String: PropertyListValue] {
        domain.compactMapValues(PropertyListValue.init(propertyList:))
    }

    /// The name of a domain that never has a value.
    static let emptyDomain = "swift-preferences.without-values"

    #if os(macOS)
    /// None: an administrator's settings for a Mac are the forced values of user defaults.
    static let configurationName: String? = nil
    #else
    /// The name of the dictionary that an administrator sends to an app: developer.apple.com/library/archive/samplecode/sc2279.
    static let configurationName: String? = "com.apple.configuration.managed"
    #endif
}
#endif

#if canImport(Darwin)
/// The domain of some user defaults.
enum UserDefaultsDomain {
    /// The program's own.
    case standard
    case suite(String)
    case unknown
}

extension SharedUserDefaults {
    init(_ object: UserDefaults, of domain: UserDefaultsDomain) {
        self.object = object
        weaker = UserDefaults(suiteName: Self.emptyDomain)
        belowArguments = { name in
            Self.value(of: name, in: kCFPreferencesAnyApplication)
                ?? UserDefaults.standard.volatileDomain(forName: UserDefaults.registrationDomain)[name]
        }
        switch domain {
        case .standard: own = { Self.value(of: $0, in: kCFPreferencesCurrentApplication) }
        case .suite(let name): own = { Self.value(of: $0, in: NSString(string: name) as CFString) }
        case .unknown: own = nil
        }
        arguments = shown(ofArguments: UserDefaults.standard.volatileDomain(forName: UserDefaults.argumentDomain))
    }

    // `persistentDomain(forName:)` would copy all values.
    private static func value(of name: String, in domain: CFString) -> Any? {
        CFPreferencesCopyValue(
            NSString(string: name) as CFString,
            domain,
            kCFPreferencesCurrentUser,
            kCFPreferencesAnyHost
        )
    }
}
#endif
