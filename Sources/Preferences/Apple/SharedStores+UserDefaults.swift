#if canImport(Darwin)
internal import Foundation

extension SharedStore {
    /// Returns the layers over the program's user defaults, or over those of a suite.
    package func layers() -> [Layer] {
        switch self {
        case .standard:
            return layers(over: .standard, of: .standard, protection: .domain(Bundle.main.bundleIdentifier))
        case .state:
            // Without a bundle, the standard defaults have the process's name, too.
            let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
            return SharedStore.suite(program + ".state").layers()
        case .suite(let name):
            // `UserDefaults` is nil only for names that `checkSuite` rejects.
            let suite = UserDefaults(suiteName: name) ?? .standard
            return layers(over: suite, of: .suite(name), protection: .suite(name))
        }
    }

    private func layers(
        over defaults: UserDefaults,
        of domain: UserDefaultsDomain,
        protection: DataProtection
    ) -> [Layer] {
        var shared = SharedUserDefaults(defaults, of: domain)
        var options: CommandLineValues?
        if case .standard = self {
            shared.configuration = SharedUserDefaults.configurationName
            options = CommandLineValues(parsing: CommandLine.arguments.dropFirst().map { $0 })
        }
        let backend = UserDefaultsBackend(shared, protection: protection, observer: KeyValueObserver.make)
        return [.arguments(above: shared, options: options)] + Layer.userDefaults(backend)
    }

    package static func checkSuite(_ name: String) throws(PreferenceError) {
        try UserDefaultsSuite.check(name, ownDomain: Bundle.main.bundleIdentifier)
    }
}

extension PreferenceStore {
    /// A layer without values on Apple platforms, where an administrator's managed settings are part of `standard`.
    public static let managed = PreferenceStore(
        Layer(source: Source([:]), name: "managed", isReadOnly: true, isManaged: true)
    )

    /// A layer without values on Apple platforms, which have no file of the system's defaults.
    public static let system = PreferenceStore(Layer(source: Source([:]), name: "system", isReadOnly: true))
}
#endif
