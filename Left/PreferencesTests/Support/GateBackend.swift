import Preferences

/// A memory backend with a timeout, whose calls of one kind wait at a gate while it is closed, as those of a server that is silent.
final class GateBackend: PreferenceBackend {
    enum Operation: Hashable { case load, catchUp, apply, sync }

    private struct State {
        var contents: [String: PropertyListValue]
        var closed: Set<Operation>
        var waiting: [Operation: Int] = [:]
        var applied: [[String: PropertyListValue?]] = []
        var deadlines: [Operation: ContinuousClock.Instant] = [:]
        var allDeadlines: Set<ContinuousClock.Instant?> = []
        var host: PreferenceBackendHost?
        var isForbidding = false
        var failure: PreferenceError?
    }

    let timeout: Duration?
    private let state: Condition<State>

    init(
        _ contents: [String: PropertyListValue] = [:],
        timeout: Duration? = .seconds(3600),
        closed: Set<Operation> = []
    ) {
        self.timeout = timeout
        state = Condition(State(contents: contents, closed: closed))
    }

    func close(_ operation: Operation) { state.withLock { _ = $0.closed.insert(operation) } }
    func open(_ operation: Operation) { state.signal { _ = $0.closed.remove(operation) } }

    /// If true, blocking calls throw `misuse`, on each thread.
    func forbidBlocking(_ isForbidding: Bool = true) { state.withLock { $0.isForbidding = isForbidding } }
    /// If true, `load` throws.
    func failLoads(with failure: PreferenceError?) { state.withLock { $0.failure = failure } }

    /// The changes that were stored, in their order.
    var applied: [[String: PropertyListValue?]] { state.withLock { $0.applied } }
    /// The deadline of the last call of a kind.
    func deadline(of operation: Operation) -> ContinuousClock.Instant? { state.withLock { $0.deadlines[operation] } }
    /// The deadlines of all calls.
    var deadlines: Set<ContinuousClock.Instant?> { state.withLock { $0.allDeadlines } }
    /// The deadline that the backend would have now.
    var currentDeadline: ContinuousClock.Instant? { state.withLock { $0.host }?.deadline() }

    /// Returns once a call waits at the gate.
    func reached(_ operation: Operation) async { await eventually { isReached(operation) } }

    /// Whether a call waits at the gate.
    func isReached(_ operation: Operation) -> Bool { state.withLock { $0.waiting[operation, default: 0] > 0 } }

    private func pass(_ operation: Operation, until deadline: ContinuousClock.Instant?) {
        state.signal { state in
            state.deadlines[operation] = deadline
            state.allDeadlines.insert(deadline)
            state.waiting[operation, default: 0] += 1
        }
        state.wait { (state: inout State) -> Condition<State>.Wait<Void> in
            guard !state.closed.contains(operation) else { return .until(nil) }
            state.waiting[operation, default: 0] -= 1
            return .done(())
        }
    }

    func checkThreadMayBlock() throws(PreferenceError) {
        guard !state.withLock({ $0.isForbidding }) else { throw PreferenceError(.misuse, "not on this thread") }
    }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        state.withLock { $0.host = host }
        pass(.load, until: host.deadline())
        return try state.withLock { state throws(PreferenceError) in
            if let failure = state.failure { throw failure }
            return state.contents
        }
    }

    /// Has the store call `catchUp`; no caller waits for it, so it has no deadline.
    func notify() { state.withLock { $0.host }?.changed() }

    func catchUp() { pass(.catchUp, until: currentDeadline) }

    func apply(_ changes: [String: PropertyListValue?], if condition: PreferenceCondition) -> PreferenceBackendCommit {
        pass(.apply, until: currentDeadline)
        return state.withLock { state in
            guard condition.holds(for: state.contents) else { return PreferenceBackendCommit(isStored: false) }
            for (name, value) in changes { state.contents[name] = value }
            state.applied.append(changes)
            return PreferenceBackendCommit(isStored: true)
        }
    }

    func sync() { sync(until: nil) }
    func sync(until deadline: ContinuousClock.Instant?) { pass(.sync, until: deadline) }
}

/// Returns once `condition` is true, however often other tasks have to run before.
func eventually(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}

/// Repeats a call until it is made in its time, as how long the threads of a test have to wait is not known.
func persist(_ body: () async throws -> Void) async throws {
    while true {
        do { return try await body() } catch let error as PreferenceError
            where [.unavailable, .notDurable].contains(error.code)
        { await Task.yield() }
    }
}

/// Starts tasks of which each writes a name of its own, in turn by each `async` form.
func startWriters(_ count: Int, to store: PreferenceStore) -> [Task<Void, any Error>] {
    (0..<count).map { index in
        Task {
            switch index % 4 {
            case 0: try await Preference("\(index)", default: 0, in: store).write(1)
            case 1: try await Preference("\(index)", default: 0, in: store).update { $0 += 1 }
            case 2: try await store.transaction { $0["\(index)"] = 1 }
            default: try await store.write(1, for: "\(index)")
            }
        }
    }
}
