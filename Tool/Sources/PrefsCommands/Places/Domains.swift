import Dispatch
import Preferences
import PreferencesInspection
import Synchronization

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
final class DomainBackend: PreferenceBackend {
    private struct State {
        var contents: [String: PropertyListValue] = [:]
        var host: PreferenceBackendHost?
        /// Reads the domain again and again.
        var task: Task<Void, Never>?
        /// The names of the values that can't be decoded, which were reported.
        var reported: Set<String?> = []
    }

    private let domain: String
    private let domains: any UserDefaultsDomains
    private let isForced: Bool
    private let state = Mutex(State())

    init(_ domain: String, of domains: any UserDefaultsDomains, isForced: Bool = false) {
        (self.domain, self.domains, self.isForced) = (domain, domains, isForced)
    }

    deinit {
        let task = state.withLock { $0.task }
        task?.cancel()
    }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        let contents = try contents(host)
        let task = Task { [domains] in
            do {
                while true {
                    try await domains.pause()
                    try await DispatchQueue.commands.run { host.changed() }
                }
            } catch {
                // Cancelled.
            }
        }
        let former = state.withLock { state in
            state.contents = contents
            state.host = host
            return exchange(&state.task, with: task)
        }
        former?.cancel()
        return contents
    }

    /// Returns the values of the layer, and reports each that can't be decoded once until it can.
    private func contents(_ host: PreferenceBackendHost?) throws(PreferenceError) -> [String: PropertyListValue] {
        let contents = try domains.contents(of: domain)
        if isForced { return contents.forced }
        let problems = state.withLock { state in
            let reported = exchange(&state.reported, with: Set(contents.problems.map(\.name)))
            return contents.problems.filter { !reported.contains($0.name) }
        }
        for problem in problems { host?.report(problem) }
        return contents.own
    }

    func catchUp() throws(PreferenceError) {
        let new = try contents(state.withLock { $0.host })
        state.withLock { state in
            var changes: [String: PropertyListValue?] = [:]
            for name in Set(new.keys).union(state.contents.keys) where new[name] != state.contents[name] {
                changes.updateValue(new[name], forKey: name)
            }
            state.contents = new
            state.host?.collect(changes)
        }
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        try catchUp()
        let contents = state.withLock { $0.contents }
        guard condition.holds(for: contents) else { return PreferenceBackendCommit(isStored: false) }
        let differing = changes.filter { $0.value != contents[$0.key] }
        if !differing.isEmpty { try domains.apply(differing, to: domain) }
        state.withLock { state in
            for (name, value) in differing { state.contents[name] = value }
        }
        return PreferenceBackendCommit()
    }
}
