#if canImport(Darwin) || STANDINS
internal import DurableFile
internal import Foundation

extension Layer {
    /// Returns the layers of user defaults, strongest first: the domain's own values, which receive the writes, and those that
    /// are shown where it has none.
    static func userDefaults(_ backend: UserDefaultsBackend) -> [Layer] {
        let own = Layer(source: Source(backend))
        guard backend.defaults.weaker != nil else { return [own] }
        let weaker = Source(RegisteredDefaultsBackend(below: backend))
        // The layer above reports that user defaults can't be read.
        weaker.state.withLock { _ = $0.isFirstReport() }
        return [own, Layer(source: weaker, name: "registered or global", isReadOnly: true)]
    }

    /// Returns the layer of the arguments that some user defaults show, whose strings are read as the declared type.
    ///
    /// User defaults show only `-name value`, and what the program put into the argument domain.
    ///
    /// - Parameter options: The options of the command line, for a store that reads them in all of their forms.
    static func arguments(above defaults: SharedUserDefaults, options: CommandLineValues? = nil) -> Layer {
        var values = options?.all.filter { !defaults.object.objectIsForced(forKey: $0.key) } ?? [:]
        // Instead of the text, user defaults may show the property list that it is, or what the program set.
        values.merge(defaults.arguments) { $0 == true ? $0 : $1 }
        // Unlisted, because the system adds values of its own.
        var layer = Layer.arguments(Source(values, words: options?.words ?? [])) { $0 }
        if options == nil { layer.optionPrefix = "-" }
        return layer
    }
}

/// A backend over the values that user defaults show where a domain has none: those of `register(defaults:)` and of the domain of all
/// programs.
///
/// The backend of the domain reads both at once and is asked first, as its layer is the stronger one. So this one reads nothing
/// that was read already.
final class RegisteredDefaultsBackend: PreferenceBackend {
    let listsAllNames = false
    let isReentrant = true
    let isWritable = false
    private let own: UserDefaultsBackend
    private let unlocking = Lock<NotificationObserver?>(nil)

    init(below own: UserDefaultsBackend) { self.own = own }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        do throws(PreferenceError) { try own.loadWeaker(host: host) } catch {
            let observer = NotificationObserver(of: DataProtection.unlocked) { _ in host.changed() }
            let before = unlocking.withLock { exchange(&$0, with: observer) }
            withExtendedLifetime(before) {}
            throw error
        }
        return [:]
    }

    func revalidate(_ names: Set<String>) { own.revalidate(names.filter { !own.isCurrent([$0]) }) }

    func isCurrent(_ names: Set<String>) -> Bool { own.isCurrent(names) }

    func values(for names: Set<String>) -> [String: PropertyListValue] { own.weakerValues(for: names) }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        throw PreferenceError(.readOnly, "registered and global user defaults are only read; nothing was changed")
    }
}

/// The values that a read of a name in user defaults found.
struct FoundDefaults {
    enum Own {
        case known(PropertyListValue?)
        /// An argument hides it.
        case hidden
        /// It may be there, as the value that is shown without it is the same.
        case unknown
    }

    var own: Own
    /// The value that is shown if the domain has none.
    var weaker: PropertyListValue?
    var isForced = false
    /// An object that is shown and that a preference can't hold.
    var invalid: Any?

    func isWeaker(_ value: PropertyListValue?) -> Bool { CachedDefaults.isSame(value, weaker) }
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
        var found = FoundDefaults(own: .known(shown), isForced: isForced, invalid: shown == nil ? object : nil)
        // A forced value counts as the domain's own.
        guard object != nil, !isForced else { return found }
        let isArgument = arguments[name] != nil
        let own = own.map { $0(name) }
        if let own, own == nil, !isArgument {
            (found.own, found.weaker) = (.known(nil), shown)
            return found
        }
        let below = isArgument ? belowArguments?(name) : weaker?.object(forKey: name)
        found.weaker = below.flatMap(PropertyListValue.init(propertyList:))
        if let own {
            found.own = .known(own.flatMap(PropertyListValue.init(propertyList:)))
        } else if isArgument {
            found.own = .hidden
        } else if below != nil, found.isWeaker(shown) {
            found.own = .unknown
        }
        return found
    }

    /// Returns the values of the argument domain, except those that user defaults don't show because an administrator forces others.
    func shown(ofArguments domain: [String: Any]) -> [String: PropertyListValue] {
        domain.reduce(into: [:]) { shown, argument in
            guard !object.objectIsForced(forKey: argument.key) else { return }
            shown[argument.key] = PropertyListValue(propertyList: argument.value)
        }
    }

    /// The name of a domain that never has a value.
    static let emptyDomain = "swift-preferences.without-values"
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
