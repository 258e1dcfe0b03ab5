#if canImport(Darwin)
internal import Foundation

extension SharedStore {
    /// The program's user defaults, or those of a suite.
    func layers() -> [Layer] {
        switch self {
        case .standard:
            // The command line's values are among the standard defaults, as texts; a layer above reads these by the
            // declared type.
            let arguments = Source(ofArguments: CommandLine.arguments.dropFirst().map { $0 })
            let defaults = source(over: .standard, protection: .domain(Bundle.main.bundleIdentifier))
            return [.unlistedArguments(arguments), Layer(source: defaults)]
        case .suite(let name):
            // Nil for the names that `checkSuite` rejects only.
            let suite = UserDefaults(suiteName: name) ?? .standard
            return [Layer(source: source(over: suite, protection: .suite(name)))]
        }
    }

    private func source(over defaults: UserDefaults, protection: DataProtection) -> Source {
        Source(
            UserDefaultsBackend(
                SharedUserDefaults(object: defaults),
                protection: protection,
                observer: KeyValueObserver.make
            )
        )
    }

    static func checkSuite(_ name: String) throws(PreferencesError) {
        try UserDefaultsSuite.check(name, ownDomain: Bundle.main.bundleIdentifier)
    }
}

extension PreferenceStore {
    /// A layer without values on Apple's platforms: what an administrator imposes there is part of user defaults.
    public static let managed = PreferenceStore(.managed(Source([:])))

    /// A layer without values on Apple's platforms, which have no file of the system's defaults.
    public static let system = PreferenceStore(.system(Source([:])))
}
#endif

#if canImport(Darwin) || STANDINS
internal import Foundation

/// Whether the file behind user defaults can't be read yet.
///
/// Between its start and the first unlocking a device keeps the file encrypted. A program that is launched in that time
/// reads nil for everything, and what it writes replaces what is in the file. No interface tells of it, so the file
/// itself is tried: one that is there and can't be opened is locked.
struct DataProtection: Sendable {
    let isLocked: @Sendable () -> Bool

    /// For defaults whose file isn't known, or isn't locked ever.
    static let none = DataProtection { false }

    /// By the file that holds the defaults; one that doesn't exist is not locked.
    static func file(at path: String) -> DataProtection {
        DataProtection { isLocked(path) }
    }

    /// By the file of a suite, if it is an app group's: the path is asked for when it is needed, and of no other suite.
    static func suite(_ name: String, container: @escaping @Sendable (String) -> URL?) -> DataProtection {
        // Every app group's name begins so where a device can be locked.
        guard name.hasPrefix("group.") else { return .domain(name) }
        return DataProtection {
            container(name).map { isLocked($0.path + preferences(name)) } ?? false
        }
    }

    /// `UIApplication.protectedDataDidBecomeAvailableNotification`, by its name, as not every process may use UIKit.
    static let unlocked = Notification.Name("UIApplicationProtectedDataDidBecomeAvailable")

    private static func isLocked(_ path: String) -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return false }
        guard let file = FileHandle(forReadingAtPath: path) else { return true }
        withExtendedLifetime(file) {}
        return false
    }

    private static func preferences(_ domain: String) -> String { "/Library/Preferences/\(domain).plist" }

    #if os(macOS) || targetEnvironment(macCatalyst)
    // A Mac is unlocked before any program of the user starts. And to ask it for a group's container may ask the user whether
    // the program may have other programs' data.

    /// None.
    static func domain(_ domain: String?) -> DataProtection { .none }
    /// None.
    static func suite(_ name: String) -> DataProtection { .none }
    #else
    /// By the file of one of the program's own domains.
    static func domain(_ domain: String?) -> DataProtection {
        domain.map { .file(at: NSHomeDirectory() + preferences($0)) } ?? .none
    }

    /// As above.
    static func suite(_ name: String) -> DataProtection {
        #if canImport(Darwin)
        suite(name) { FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0) }
        #else
        suite(name) { _ in nil }
        #endif
    }
    #endif
}
#endif
