#if canImport(Darwin)
internal import Foundation

extension SharedStore {
    /// Where the store keeps its values: the program's user defaults, or those of a suite.
    func makeSource() -> any StoreSource {
        switch self {
        case .standard:
            // The command line's values are among the standard defaults, as texts; a layer above reads these by the
            // declared type.
            let arguments = CommandLine.arguments.dropFirst().map { $0 }
            return LayeredSource {
                [
                    .arguments(arguments, role: .unlistedArguments),
                    store(over: .standard, file: DefaultsFile.path(ofDomain: Bundle.main.bundleIdentifier)),
                ]
            }
        case .suite(let name):
            // Nil for the names that `checkSuite` refuses only.
            let suite = UserDefaults(suiteName: name) ?? .standard
            return store(over: suite, file: DefaultsFile.path(ofDomain: name, inGroup: true)).source
        }
    }

    private func store(over defaults: UserDefaults, file: String?) -> PreferenceStore {
        PreferenceStore(
            SharedUserDefaults(object: defaults),
            protection: file.map(DataProtection.file) ?? .none,
            observer: KeyValueObserver.make
        )
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
