internal import DurableFile
internal import Preferences

/// A rule being tried on a place.
final class Trial: Sendable {
    let place: PreferenceBackendPlace
    let patience: Duration
    private let noted = Lock<[String]>([])

    init(of place: PreferenceBackendPlace, patience: Duration) {
        self.place = place
        self.patience = patience
    }

    var findings: [String] { noted.withLock { $0 } }

    func note(_ finding: String) {
        noted.withLock { $0.append(finding) }
    }

    func expect(_ condition: Bool, _ finding: @autoclosure () -> String) {
        if !condition { note(finding()) }
    }

    /// Opens and loads an instance.
    func open() throws -> Replica {
        try Replica(place.open())
    }

    /// Expects that the place holds exactly `contents`, as the instance that is asked sees it.
    func expect(_ replica: Replica, holds contents: [String: PropertyListValue], _ moment: String) throws {
        try expect(replica.stores(contents), "\(moment) it does not hold exactly \(describe(contents))")
        guard place.isShared else { return }
        let loaded = try open().contents
        expect(loaded == contents, "\(moment) a new instance loads \(describe(loaded)) and not \(describe(contents))")
    }
}

/// An instance of a backend with what a store above it would show.
final class Replica: Sendable {
    let backend: any PreferenceBackend
    /// How often the backend said that others changed something.
    let announcements: Announcements
    private let known: Lock<[String: PropertyListValue]>

    init(_ backend: any PreferenceBackend) throws(PreferencesError) {
        self.backend = backend
        let announcements = Announcements()
        self.announcements = announcements
        known = Lock(
            try backend.load(host: PreferenceBackendHost(changed: { announcements.add() }, report: { _ in }))
        )
    }

    var contents: [String: PropertyListValue] { known.withLock { $0 } }

    @discardableResult
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition = .none
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        var commit = try backend.apply(changes, if: condition)
        commit.outside = take(commit.outside)
        guard commit.isStored else { return commit }
        take(changes)
        try backend.didApply()
        return commit
    }

    @discardableResult
    func refresh() throws(PreferencesError) -> [String: PropertyListValue?] {
        take(try backend.refresh())
    }

    /// Refreshes until it is enough, each time when the backend has told of changes; gives all that was returned.
    ///
    /// A backend may hold back what it can't be sure of yet, if it tells when it is.
    @discardableResult
    func refresh(
        within patience: Duration,
        until isEnough: () -> Bool
    ) async throws(PreferencesError) -> [[String: PropertyListValue?]] {
        var told: [[String: PropertyListValue?]] = []
        while true {
            let count = announcements.count
            told.append(try refresh())
            if isEnough() { return told }
            guard await announcements.exceed(count, within: patience) else { return told }
        }
    }

    /// Whether exactly these values are stored; asked by a condition, as a backend has no other way to be read again.
    func stores(_ contents: [String: PropertyListValue]) throws(PreferencesError) -> Bool {
        let condition = PreferenceCondition(values: contents.mapValues { $0 }, isComplete: true)
        return try apply(["contract.nothing": nil], if: condition).isStored
    }

    /// Takes changes as a store does: what it shows already is no change, so a backend may tell that again.
    @discardableResult
    private func take(_ changes: [String: PropertyListValue?]) -> [String: PropertyListValue?] {
        known.withLock { known in
            let different = changes.filter { known[$0] != $1 }
            for (name, value) in different { known[name] = value }
            return different
        }
    }
}

/// Counts the calls of `host.changed`, and lets a clause wait for one.
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

    /// Waits for a call after the first `count`; false where none came in time.
    func exceed(_ count: Int, within patience: Duration) async -> Bool {
        let isTold = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.next(after: count)
                return true
            }
            group.addTask {
                // A deadline for backends that never call; those that do don't wait for it.
                do { try await Task.sleep(for: patience) } catch { return true }
                return false
            }
            let isTold = await group.next() ?? false
            group.cancelAll()
            if !isTold { self.add() }
            return isTold
        }
        return isTold
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

/// Values as a finding shows them: those of a few names.
func describe(_ values: [String: PropertyListValue]) -> String {
    guard values.count <= 4 else { return "\(values.count) names" }
    return "[" + values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
}

func describe(_ changes: [String: PropertyListValue?]) -> String {
    guard changes.count <= 4 else { return "\(changes.count) names" }
    let sorted = changes.sorted { $0.key < $1.key }
    return "[" + sorted.map { "\($0.key): \($0.value.map { "\($0)" } ?? "removed")" }.joined(separator: ", ") + "]"
}
