import Preferences
import PreferencesInspection

/// The user defaults of a system, by domain: all that the tool needs of them.
protocol UserDefaultsDomains: Sendable {
    /// Returns the names of the existing domains, of which some may have no values.
    func names() throws -> [String]
    /// Returns the values that the user or a program has set, and those that an administrator forces; none if there is no such domain.
    func contents(of domain: String) throws(PreferenceError) -> DomainContents
    /// Stores changes; a `nil` value removes the name.
    func apply(_ changes: [String: PropertyListValue?], to domain: String) throws(PreferenceError)
    /// Returns after the time for which a change by another process may go unnoticed; throws if the task is cancelled.
    func pause() async throws
}

/// The values of a domain.
struct DomainContents: Sendable {
    var own: [String: PropertyListValue] = [:]
    var forced: [String: PropertyListValue] = [:]
    /// An error for each own value that can't be decoded.
    var problems: [PreferenceError] = []
}

/// The domains of user defaults as suites.
struct DomainSuites: Suites {
    private let domains: any UserDefaultsDomains

    init(_ domains: any UserDefaultsDomains) { self.domains = domains }

    func names() throws -> [String] {
        try domains.names().sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns the names of the domains that have these files, without the hidden ones, of which one has the values for all programs.
    static func names(ofFiles files: [String]) -> [String] {
        files.filter { $0.hasSuffix(".plist") && !$0.hasPrefix(".") }.map { String($0.dropLast(".plist".count)) }
    }

    func place(of suite: String) throws -> any Place { DomainPlace(suite, of: domains) }

    func place(ofStateOf suite: String) throws -> any Place { DomainPlace(suite + ".state", of: domains) }

    func paths(of suite: String) throws -> (own: String, all: [String: PropertyListValue]) {
        (suite, ["domain": .string(suite)])
    }
}

/// A domain of user defaults, with the values that an administrator forces as its managed layer.
final class DomainPlace: Place {
    let title: String
    private let domain: String
    private let domains: any UserDefaultsDomains

    init(_ domain: String, of domains: any UserDefaultsDomains) {
        (self.domain, self.domains) = (domain, domains)
        title = "the domain \"\(domain)\""
    }

    func file(for purpose: FilePurpose) throws -> String? {
        switch purpose {
        case .check, .write: nil
        case .repair, .compact:
            throw Failure(.usage, "a domain of user defaults has no file to repair or compact; name a file by --file")
        }
    }

    func history(of names: [String]?, limit: Int) throws -> ChangeHistory {
        throw Failure(.usage, "user defaults record no changes; `prefs watch` shows those from now on")
    }

    func nameChanged(after change: ChangeHistory.Change) -> String? { nil }

    var isShared: Bool { false }

    var schemaPaths: [String] {
        do throws(PreferenceError) { return try SuiteFiles(domain).schemaPaths } catch { return [] }
    }

    var writability: Writability { .unknown("the system doesn't say before a write") }

    func exists() throws -> Bool {
        let contents = try contents()
        return try !contents.own.isEmpty || !contents.forced.isEmpty || domains.names().contains(domain)
    }

    var missing: Failure { Failure(.absent, "\(title) doesn't exist; `prefs list` shows the domains") }

    func layers(_ report: @escaping @Sendable (PreferenceError) -> Void) throws -> [PlaceLayer] {
        let contents = try contents()
        contents.problems.forEach(report)
        let user = PlaceLayer(source: .user, contents: contents.own, location: domain, kind: .domain)
        guard !contents.forced.isEmpty else { return [user] }
        return [user, PlaceLayer(source: .managed, contents: contents.forced, location: domain, kind: .domain)]
    }

    func open() throws -> PlaceStores {
        let own = PreferenceStore(backend: DomainBackend(domain, of: domains))
        try own.load()
        let forced = PreferenceStore(backend: DomainBackend(domain, of: domains, isForced: true), isManaged: true)
        return PlaceStores(store: .layered([forced, own]), own: own)
    }

    func absent(_ name: String, in stores: PlaceStores, _ formerNames: FormerNames) throws -> Failure {
        guard stores.store[name] != nil else { return try absent(name, of: stores.own.names, formerNames) }
        return Failure(.absent, "\"\(name)\" is set by the administrator, not in \(title)")
    }

    /// Does nothing, as user defaults need no connection.
    func reportConnection() {}

    private func contents() throws -> DomainContents { try domains.contents(of: domain) }
}

/// One layer of a domain, with all its names, which user defaults by themselves observe only one by one.
///
/// While the store exists, the domain is read after each pause, as the system notifies a program only of names that it knows.
final class DomainBackend: PreferenceBackend, @unchecked Sendable {  // the store calls it on one thread at a time
    let place: String
    private let domain: String
    private let domains: any UserDefaultsDomains
    private let isForced: Bool
    private var contents: [String: PropertyListValue] = [:]
    private var host: PreferenceBackendHost?
    /// Reads the domain again and again.
    private var task: Task<Void, Never>?
    /// The names of the values that can't be decoded, which were reported.
    private var reported: Set<String?> = []

    init(_ domain: String, of domains: any UserDefaultsDomains, isForced: Bool = false) {
        (self.domain, self.domains, self.isForced) = (domain, domains, isForced)
        place = "the domain \"\(domain)\""
    }

    deinit { task?.cancel() }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws -> [StoredChange] {
        self.host = host
        contents = try read()
        task?.cancel()
        task = Task { [domains] in
            do {
                while true {
                    try await domains.pause()
                    host.changed()
                }
            } catch {
                // Cancelled.
            }
        }
        return contents.map { StoredChange($0.key, $0.value) }
    }

    /// Returns the values of the layer, and reports each that can't be decoded once until it can.
    private func read() throws(PreferenceError) -> [String: PropertyListValue] {
        let contents = try domains.contents(of: domain)
        if isForced { return contents.forced }
        for problem in contents.problems where !reported.contains(problem.name) { host?.report(problem) }
        reported = Set(contents.problems.map(\.name))
        return contents.own
    }

    func catchUp(until deadline: PreferenceDeadline) throws -> ExternalChanges {
        let old = contents
        contents = try read()
        let names = Set(contents.keys).union(old.keys).filter { contents[$0] != old[$0] }
        return names.isEmpty ? .none : .changes([names.map { StoredChange($0, contents[$0]) }])
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        var changes: [String: PropertyListValue?] = [:]
        for change in try body(try catchUp(until: deadline)) { changes.updateValue(change.value, forKey: change.name) }
        changes = changes.filter { $0.value != contents[$0.key] }
        if !changes.isEmpty { try domains.apply(changes, to: domain) }
        for (name, value) in changes { contents[name] = value }
    }
}
