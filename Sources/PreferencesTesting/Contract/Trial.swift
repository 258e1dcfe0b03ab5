internal import Preferences

typealias Values = [String: PropertyListValue]
typealias Changes = [String: PropertyListValue?]

/// A rule being checked on a place.
final class Trial: Sendable {
    let patience: Duration
    let offers: Set<Rule.Need>
    private let place: PreferenceBackendPlace
    private let noted = Lock<[String]>([])
    /// The names that rules use at several instances, and those that were changed: for places that are asked for single names, each of whose
    /// instances is notified of the names that it was asked for.
    private let names = Lock<Set<String>>(["a", "b", "c"])

    init(of place: PreferenceBackendPlace, patience: Duration) throws {
        (self.place, self.patience) = (place, patience)
        var offers: Set<Rule.Need> = place.isShared ? [.sharedPlace] : []
        if (try place.open() as? any Backend)?.isKeyed != true { offers.insert(.atomicity) }
        if place.failNextWrite != nil { offers.insert(.failure) }
        self.offers = offers
    }

    var findings: [String] { noted.withLock { $0 } }

    func note(_ finding: String) { noted.withLock { $0.append(finding) } }

    func expect(_ condition: Bool, _ finding: @autoclosure () -> String) {
        if !condition { note(finding()) }
    }

    /// Opens and loads an instance.
    func open() throws -> Replica {
        try Replica(place.open(), asking: { [self] in names.withLock { $0 } }) { [self] changed in
            names.withLock { $0.formUnion(changed) }
        }
    }

    /// Expects that the place holds exactly these values, according to a new instance.
    func expect(_ contents: Values, _ moment: String) throws {
        guard place.isShared else { return }
        let loaded = try open().contents
        expect(loaded == contents, "\(moment) a new instance loads \(describe(loaded)) and not \(describe(contents))")
    }

    /// Expects that a change fails because what is below the backend does.
    func expectFailure(of replica: Replica, _ changes: Changes) {
        place.failNextWrite?()
        do {
            try replica.store(changes)
            note("change does not throw though the write fails")
        } catch {}
    }
}

/// An instance of a backend, with the values that a store over it would show.
final class Replica: Sendable {
    let backend: any PreferenceBackend
    /// The same if it is asked for single names.
    private let keyed: (any Backend)?
    /// The calls of `host.changed`.
    let announcements = Announcements()
    private let known: Lock<Values>
    private let names: @Sendable () -> Set<String>
    private let note: @Sendable (Set<String>) -> Void

    init(
        _ backend: any PreferenceBackend,
        asking names: @escaping @Sendable () -> Set<String>,
        noting note: @escaping @Sendable (Set<String>) -> Void
    ) throws {
        (self.backend, self.names, self.note) = (backend, names, note)
        let own = backend as? any Backend
        keyed = own?.isKeyed == true ? own : nil
        let host = PreferenceBackendHost(changed: { [announcements] in announcements.add() }, report: { _ in })
        let loaded = try backend.load(host: host, until: PreferenceDeadline(after: backend.timeout))
        known = Lock(loaded.reduce(into: [:]) { $0[$1.name] = $1.value })
        _ = try readNames()
    }

    var contents: Values { known.withLock { $0 } }

    /// Stores changes; returns the external changes that were passed on before.
    @discardableResult
    func store(_ changes: Changes) throws -> Changes { try change { _ in changes } }

    /// Stores what `body` returns for the newest values; returns the external changes before it.
    @discardableResult
    func change(until deadline: PreferenceDeadline? = nil, _ body: (Values) throws -> Changes) throws -> Changes {
        var (external, stored) = (try readNames(), Changes())
        try backend.change(until: deadline ?? PreferenceDeadline(after: backend.timeout)) { update in
            external.merge(receive(update)) { $1 }
            stored = try body(contents)
            return stored.map { StoredChange($0.key, $0.value) }
        }
        _ = receive([stored])
        note(Set(stored.keys))
        keyed?.finish()
        return external
    }

    /// Has the backend catch up; returns the external changes.
    @discardableResult
    func catchUp() throws -> Changes {
        let external = receive(try backend.catchUp(until: PreferenceDeadline(after: backend.timeout)))
        guard let keyed else { return external }
        return external.merging(receive(.changes([try keyed.values(for: nil)]))) { $1 }
    }

    /// Has the backend catch up, and again after each call of `host.changed`, until `isEnough`; returns everything that the calls returned.
    ///
    /// A backend may hold a change back while it can't be sure of it, if it passes the change on later.
    @discardableResult
    func catchUp(within patience: Duration, until isEnough: () -> Bool) async throws -> [Changes] {
        var returned: [Changes] = []
        while true {
            let count = announcements.count
            returned.append(try catchUp())
            if isEnough() { return returned }
            guard await announcements.exceed(count, within: patience) else { return returned }
        }
    }

    /// Asks for all names that any instance has changed, as reads do.
    private func readNames() throws -> Changes {
        guard let keyed else { return [:] }
        return receive(.changes([try keyed.values(for: names().sorted())]))
    }

    private func receive(_ update: ExternalChanges) -> Changes {
        switch update {
        case .none: return [:]
        case .changes(let transactions): return receive(transactions.map(dictionary))
        case .contents(let transactions, let values):
            let removed: Changes = contents.mapValues { _ in nil }
            return receive(transactions.map(dictionary) + [removed.merging(dictionary(values)) { $1 }])
        }
    }

    private func dictionary(_ changes: [StoredChange]) -> Changes {
        Dictionary(changes.map { ($0.name, $0.value) }) { $1 }
    }

    /// Shows changes as a store does: a value that it already shows isn't a change, so a backend may pass it on again.
    private func receive(_ transactions: [Changes]) -> Changes {
        known.withLock { known in
            var external: Changes = [:]
            for changes in transactions {
                for (name, value) in changes where known[name] != value {
                    known[name] = value
                    external.updateValue(value, forKey: name)
                }
            }
            return external
        }
    }
}

/// A counter of the calls of `host.changed` that a rule can wait for.
final class Announcements: Sendable {
    private struct State {
        var count = 0
        var witnesses: [UnsafeContinuation<Void, Never>] = []
    }

    private let state = Lock(State())

    func add() {
        let witnesses = state.withLock { state in
            state.count += 1
            return exchange(&state.witnesses, with: [])
        }
        for witness in witnesses { witness.resume() }
    }

    var count: Int { state.withLock { $0.count } }

    /// Waits for a call after the first `count`; returns false if none came in time.
    func exceed(_ count: Int, within patience: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.next(after: count)
                return true
            }
            group.addTask {
                // A deadline for backends that never call; those that do don't wait for it.
                do { try await Task.sleep(for: patience) } catch { return true }
                return false
            }
            let isNotified = await group.next() ?? false
            group.cancelAll()
            if !isNotified { self.add() }
            return isNotified
        }
    }

    private func next(after count: Int) async {
        await withUnsafeContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count <= count { state.witnesses.append(continuation) }
                return state.count > count
            }
            if isThere { continuation.resume() }
        }
    }
}

/// Returns the values as a finding shows them, if there are few.
func describe(_ values: Values) -> String { describe(values.mapValues { $0 } as Changes) }

func describe(_ changes: Changes) -> String {
    guard changes.count <= 4 else { return "\(changes.count) names" }
    let sorted = changes.sorted { $0.key < $1.key }
    return "[" + sorted.map { "\($0.key): \($0.value.map { "\($0)" } ?? "removed")" }.joined(separator: ", ") + "]"
}
