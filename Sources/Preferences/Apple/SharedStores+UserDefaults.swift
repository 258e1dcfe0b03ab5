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
            let defaults = source(over: .standard, file: DefaultsFile.path(ofDomain: Bundle.main.bundleIdentifier))
            return [.unlistedArguments(arguments), Layer(source: defaults)]
        case .suite(let name):
            // Nil for the names that `checkSuite` rejects only.
            let suite = UserDefaults(suiteName: name) ?? .standard
            return [Layer(source: source(over: suite, file: DefaultsFile.path(ofDomain: name, inGroup: true)))]
        }
    }

    private func source(over defaults: UserDefaults, file: String?) -> Source {
        let backend = UserDefaultsBackend(
            SharedUserDefaults(object: defaults),
            protection: file.map(DataProtection.file) ?? .none,
            observer: KeyValueObserver.make
        )
        return Source(backend)
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
