internal import DurableFile
public import Preferences

/// How a store stands to its cluster.
public struct EtcdStatus: Sendable {
    /// The member that tells of changes; nil while none does.
    public internal(set) var endpoint: String?
    /// Why none does.
    public internal(set) var error: PreferencesError?
    /// How many writes wait to be sent.
    public internal(set) var waitingWrites = 0
    /// The error with which the servers rejected the writes that wait, such as `noSpace`, `notPermitted` or `unavailable`; `nil` if they
    /// did not, or were not asked.
    public internal(set) var refusal: PreferencesError?

    /// Whether what is read is current; else it is what was stored when the connection was lost.
    public var isConnected: Bool { endpoint != nil }
}

/// Shows how a store stands to its cluster: now, and each change.
///
/// Give one to one store at a time. All of it may be used on any thread.
public final class EtcdMonitor: Sendable {
    private struct State {
        var status = EtcdStatus()
        var observers: [Int: AsyncStream<EtcdStatus>.Continuation] = [:]
        var count = 0
        var wasConnected = false
        var record: @Sendable (EtcdEvent) -> Void = { _ in }
        var isFinished = false
        weak var backend: EtcdBackend?
        /// The identity of `backend`, also while that ends: to look at a weak reference under the lock could be what ends it.
        var shown: ObjectIdentifier?
    }

    private let state = Lock(State())

    /// Makes a monitor, not connected yet.
    public init() {}

    /// The status now.
    public var status: EtcdStatus { state.withLock { $0.status } }

    /// The status now and then each change, until the store is gone; who is slow sees the newest only.
    public var statuses: AsyncStream<EtcdStatus> {
        let (stream, continuation) = AsyncStream.makeStream(of: EtcdStatus.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isFinished) = state.withLock { state in
            state.count += 1
            continuation.yield(state.status)
            if !state.isFinished { state.observers[state.count] = continuation }
            return (state.count, state.isFinished)
        }
        if isFinished { continuation.finish() }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.observers.removeValue(forKey: number) }
        }
        return stream
    }

    /// Has each change recorded.
    func record(_ record: @escaping @Sendable (EtcdEvent) -> Void) { state.withLock { $0.record = record } }

    /// Returns when no write waits any more; sends at once if the store is connected. Suspends, and blocks no thread.
    ///
    /// - Throws: `notDurable` if some wait when the time is over, or the store or the task ends before, with their number and
    ///   names and the reason.
    public func drain(within duration: Duration) async throws(PreferencesError) {
        state.withLock { $0.backend }?.watch.probeNow()
        let isDrained = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await status in self.statuses where status.waitingWrites == 0 { return true }
                return false
            }
            group.addTask {
                do { try await Task.sleep(for: duration) } catch { return false }
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        let status = status
        guard !isDrained, status.waitingWrites > 0 else { return }
        let backend = state.withLock { $0.backend }
        throw PreferencesError(
            .notDurable,
            "\(backend?.waitingWrites ?? "\(status.waitingWrites) writes of a store that is gone") were not sent within \(duration)",
            cause: status.refusal ?? status.error
        )
    }

    /// Shows a store from now on; one made later takes the place of an earlier one.
    func shows(_ backend: EtcdBackend) {
        state.withLock { state in
            state.backend = backend
            state.shown = ObjectIdentifier(backend)
            state.isFinished = false
        }
    }

    func connected(to endpoint: String) {
        change { status in
            status.endpoint = endpoint
            status.error = nil
        }
    }

    func disconnected(_ error: PreferencesError) {
        change { status in
            status.endpoint = nil
            status.error = error
        }
    }

    func waits(_ count: Int) {
        if status.waitingWrites != count { change { $0.waitingWrites = count } }
    }

    func refuses(_ reason: PreferencesError?) {
        if status.refusal?.code != reason?.code { change { $0.refusal = reason } }
    }

    /// Ends the statuses, unless another store is shown already.
    func finish(_ backend: EtcdBackend) {
        let observers = state.withLock { state -> [Int: AsyncStream<EtcdStatus>.Continuation] in
            guard state.shown == ObjectIdentifier(backend) else { return [:] }
            state.isFinished = true
            return exchange(&state.observers, with: [:])
        }
        for observer in observers.values { observer.finish() }
    }

    private func change(_ body: (inout EtcdStatus) -> Void) {
        // Under the lock, so that nobody sees two changes in the wrong order; to yield runs no code of others.
        let (events, record) = state.withLock { state in
            let old = state.status
            body(&state.status)
            for observer in state.observers.values { observer.yield(state.status) }
            let events = state.status.events(since: old, isAgain: state.wasConnected)
            state.wasConnected = state.wasConnected || state.status.isConnected
            return (events, state.record)
        }
        for event in events { record(event) }
    }
}

extension EtcdStatus {
    fileprivate func events(since old: EtcdStatus, isAgain: Bool) -> [EtcdEvent] {
        var events: [EtcdEvent] = []
        if let endpoint, !old.isConnected { events.append(.connected(to: endpoint, isAgain: isAgain)) }
        // While it stays disconnected, one is enough.
        if let error, old.error == nil { events.append(.disconnected(error)) }
        if waitingWrites != old.waitingWrites {
            events.append(.waiting(from: old.waitingWrites, to: waitingWrites))
        }
        return events
    }
}
