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
    /// The number of times that the backend called `host.changed`.
    let announcements: Announcements
    private let state: Lock<State>

    private struct State {
        var known: [String: PropertyListValue] = [:]
        var inbox = Inbox()
    }

    init(_ backend: any PreferenceBackend) throws(PreferenceError) {
        self.backend = backend
        announcements = Announcements()
        state = Lock(State())
        let contents = try backend.load(
            host: PreferenceBackendHost(
                add: { [weak self] changes, position in self?.state.withLock { $0.inbox.add(changes, at: position) } },
                addOwn: { [weak self] position in self?.state.withLock { $0.inbox.addOwn(at: position) } },
                announce: { [announcements] _ in announcements.add() },
                { _ in },
                { nil }
            )
        )
        state.withLock { $0.known = contents }
    }

    var contents: [String: PropertyListValue] { state.withLock { $0.known } }

    /// The outcome of `apply`.
    struct Outcome {
        let isStored: Bool
        /// The external changes before it.
        let outside: [String: PropertyListValue?]
    }

    @discardableResult
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition = .none
    ) throws(PreferenceError) -> Outcome {
        state.withLock { $0.inbox.begin(changes) }
        defer { state.withLock { $0.inbox.begin(nil) } }
        let isStored = try backend.apply(changes, if: condition).isStored
        if isStored { state.withLock { $0.inbox.addOwn() } }
        // Changes after its own are left to the next call.
        let outside = publish(throughOwn: isStored)
        if isStored { try backend.didApply() }
        return Outcome(isStored: isStored, outside: outside)
    }

    /// Has the backend catch up; returns the external changes.
    @discardableResult
    func catchUp() throws(PreferenceError) -> [String: PropertyListValue?] {
        try backend.catchUp()
        return publish()
    }

    /// Has the backend catch up, and again after each call of `host.changed`, until `isEnough`; returns everything that the calls returned.
    ///
    /// A backend may hold a change back while it can't be sure of it, if it passes the change on later.
    @discardableResult
    func catchUp(
        within patience: Duration,
        until isEnough: () -> Bool
    ) async throws(PreferenceError) -> [[String: PropertyListValue?]] {
        var returned: [[String: PropertyListValue?]] = []
        while true {
            let count = announcements.count
            returned.append(try catchUp())
            if isEnough() { return returned }
            guard await announcements.exceed(count, within: patience) else { return returned }
        }
    }

    /// Returns whether exactly these values are stored; checks that by a condition, as a backend can't be read again otherwise.
    func stores(_ contents: [String: PropertyListValue]) throws(PreferenceError) -> Bool {
        let condition = PreferenceCondition(values: contents.mapValues { $0 }, isComplete: true)
        return try apply(["contract.nothing": nil], if: condition).isStored
    }

    /// Shows the changes in the inbox as a store does: a value that it already shows isn't a change, so a backend may pass it on again.
    private func publish(throughOwn: Bool = false) -> [String: PropertyListValue?] {
        state.withLock { state in
            var external: [String: PropertyListValue?] = [:]
            while let batch = state.inbox.next() {
                let different = batch.dictionary.filter { state.known[$0.key] != $0.value }
                for (name, value) in different { state.known[name] = value }
                if !batch.isOwn { external.merge(different) { $1 } } else if throughOwn { break }
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
