#if canImport(Darwin)
internal import Foundation

extension SharedStore {
    /// The store over the program's user defaults, or over those of a suite.
    func makeStore(standIn: StandIn?) -> PreferenceStore {
        switch self {
        case .standard:
            // The command line's values are among the standard defaults, as texts; a layer above reads these by the
            // declared type.
            return PreferenceStore(standIn: standIn) {
                let arguments = Source(ofArguments: CommandLine.arguments.dropFirst().map { $0 })
                let defaults = source(over: .standard, file: DefaultsFile.path(ofDomain: Bundle.main.bundleIdentifier))
                return [.unlistedArguments(arguments), Layer(source: defaults)]
            }
        case .suite(let name):
            // Nil for the names that `checkSuite` refuses only.
            let suite = UserDefaults(suiteName: name) ?? .standard
            return PreferenceStore(
                Layer(source: source(over: suite, file: DefaultsFile.path(ofDomain: name, inGroup: true))),
                standIn: standIn
            )
        }
    }

    private func source(over defaults: UserDefaults, file: String?) -> Source {
        let backend = UserDefaultsBackend(
            SharedUserDefaults(object: defaults),
            protection: file.map(DataProtection.file) ?? .none,
            observer: KeyValueObserver.make
        )
        return Source(backend, asked: backend)
    }

    static func checkSuite(_ name: String) throws(PreferencesError) {
        try UserDefaultsSuite.check(name, ownDomain: Bundle.main.bundleIdentifier)
    }
}

/// Where the system keeps the defaults of a domain.
private enum DefaultsFile {
    static func path(ofDomain domain: String?, inGroup: Bool = false) -> String? {
        guard let domain else { return nil }
        let group = inGroup ? FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: domain) : nil
        return (group?.path ?? NSHomeDirectory()) + "/Library/Preferences/\(domain).plist"
    }
}
#endif
