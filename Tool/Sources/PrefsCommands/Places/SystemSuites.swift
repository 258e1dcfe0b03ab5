#if canImport(Darwin)
import Preferences
import PreferencesInspection

/// The suites of this machine's user: there, the domains of user defaults.
enum SystemSuites {
    static func make() -> any Suites { DomainSuites(SystemDomains()) }
}

/// The domains of this user's user defaults.
private struct SystemDomains: UserDefaultsDomains {
    func names() throws -> [String] { DomainSuites.names(ofFiles: try Folder.names(in: DefaultsDomain.folder) ?? []) }

    func contents(of domain: String) throws(PreferenceError) -> DomainContents {
        let domain = try DefaultsDomain(domain)
        let own = domain.own()
        return DomainContents(own: own.values, forced: try domain.forced(), problems: own.problems)
    }

    func apply(_ changes: [String: PropertyListValue?], to domain: String) throws(PreferenceError) {
        try DefaultsDomain(domain).apply(changes)
    }

    func pause() async throws { try await Task.sleep(for: .seconds(1)) }
}
#else
/// The suites of this machine's user.
enum SystemSuites {
    static func make() -> any Suites { FileSuites() }
}
#endif
