internal import DurableFile
internal import Preferences

/// A rule being checked on a place.
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

    /// Expects that the place holds exactly `contents`, according to the instance, and to a new one if the place is shared.
    func expect(_ replica: Replica, holds contents: [String: PropertyListValue], _ moment: String) throws {
        try expect(replica.stores(contents), "\(moment) it does not hold exactly \(describe(contents))")
        guard place.isShared else { return }
        let loaded = try open().contents
        expect(loaded == contents, "\(moment) a new instance loads \(describe(loaded)) and not \(describe(contents))")
    }
}

/// An instance of a backend, with the values that a store over it would show.
final class Replica: Sendable {
    let backend: any PreferenceBackend
    /// The number of times that the backend reported an external change.
    let announcements: Announcements
    private let known: Lock<[String: PropertyListValue]>

    init(_ backend: any PreferenceBackend) throws(PreferenceError) {
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
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        var commit = try backend.apply(changes, if: condition)
        commit.outside = merge(commit.outside)
        guard commit.isStored else { return commit }
        merge(changes)
        try backend.didApply()
        return commit
    }

    @discardableResult
    func refresh() throws(PreferenceError) -> [String: PropertyListValue?] {
        merge(try backend.refresh())
    }

    /// Refreshes, and again after each report of an external change, until `isEnough`; returns everything that the calls returned.
    ///
    /// A backend may hold a change back while it can't be sure of it, if it reports the change later.
    @discardableResult
    func refresh(
        within patience: Duration,
        until isEnough: () -> Bool
    ) async throws(PreferenceError) -> [[String: PropertyListValue?]] {
        var returned: [[String: PropertyListValue?]] = []
        while true {
            let count = announcements.count
            returned.append(try refresh())
            if isEnough() { return returned }
            guard await announcements.exceed(count, within: patience) else { return returned }
        }
    }

    /// Returns whether exactly these values are stored; checks that by a condition, as a backend can't be read again otherwise.
    func stores(_ contents: [String: PropertyListValue]) throws(PreferenceError) -> Bool {
        let condition = PreferenceCondition(values: contents.mapValues { $0 }, isComplete: true)
        return try apply(["contract.nothing": nil], if: condition).isStored
    }

    /// Applies changes as a store does: a value that it already shows isn't a change, so a backend may return it again.
    @discardableResult
    private func merge(_ changes: [String: PropertyListValue?]) -> [String: PropertyListValue?] {
        known.withLock { known in
            let different = changes.filter { known[$0] != $1 }
            for (name, value) in different { known[name] = value }
            return different
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
        let isNotified = await withTaskGroup(of: Bool.self) { group in
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
        return isNotified
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
func describe(_ values: [String: PropertyListValue]) -> String {
    guard values.count <= 4 else { return "\(values.count) names" }
    return "[" + values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
}

func describe(_ changes: [String: PropertyListValue?]) -> String {
    guard changes.count <= 4 else { return "\(changes.count) names" }
    let sorted = changes.sorted { $0.key < $1.key }
    return "[" + sorted.map { "\($0.key): \($0.value.map { "\($0)" } ?? "removed")" }.joined(separator: ", ") + "]"
}
