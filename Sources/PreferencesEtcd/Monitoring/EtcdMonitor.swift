public import Preferences

/// The status of a store's connection to its cluster.
public struct EtcdStatus: Sendable {
    /// The URL of the member that sends the changes, or `nil` while the store is disconnected.
    public internal(set) var endpoint: String?
    /// The reason why the store is disconnected, or `nil` while it is connected or connects for the first time.
    public internal(set) var error: PreferenceError?
    /// Whether the values are up to date; if not, reads return the values from before the connection was lost.
    public var isConnected: Bool { endpoint != nil }
}

/// A monitor of a store's connection to its cluster: the current status, and each change of it.
///
/// Use one for one store at a time; a later store begins with a new status. All its members can be used on any thread.
public final class EtcdMonitor: Sendable {
    private struct State {
        var status = EtcdStatus()
        var observers: [Int: AsyncStream<EtcdStatus>.Continuation] = [:]
        var count = 0
        var wasConnected = false
        var record: @Sendable (EtcdEvent) -> Void = { _ in }
        var isFinished = false
        /// The identity of the backend that is attached.
        var shown: ObjectIdentifier?
    }

    private let state = Lock(State())

    /// Creates a monitor, to be passed to a store.
    public init() {}

    /// The current status.
    public var status: EtcdStatus { state.withLock { $0.status } }

    /// A sequence of the current status and each later one, in order, which ends when the store is released; a slow consumer
    /// receives the newest only.
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

    /// Sets the closure that records events.
    func record(_ record: @escaping @Sendable (EtcdEvent) -> Void) { state.withLock { $0.record = record } }

    /// Shows the status of a backend, of which only the identity is kept, in place of an earlier one's.
    func attach(_ backend: AnyObject) {
        state.withLock { state in
            // An earlier store's status says nothing about this one.
            (state.status, state.wasConnected) = (EtcdStatus(), false)
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

    func disconnected(_ error: PreferenceError) {
        change { status in
            status.endpoint = nil
            status.error = error
        }
    }

    /// Ends the sequences of statuses, unless another backend is attached already.
    func finish(_ backend: AnyObject) {
        let (observers, record) = state.withLock { state in
            guard state.shown == ObjectIdentifier(backend) else {
                return ([:] as [Int: AsyncStream<EtcdStatus>.Continuation], nil as (@Sendable (EtcdEvent) -> Void)?)
            }
            state.isFinished = true
            state.status.endpoint = nil
            return (exchange(&state.observers, with: [:]), state.record)
        }
        for observer in observers.values { observer.finish() }
        record?(.released)
    }

    private func change(_ body: (inout EtcdStatus) -> Void) {
        // Yielding under the lock keeps the order; it runs no code of the consumers.
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
        // Further errors while the store is disconnected are no events.
        if let error, old.error == nil { events.append(.disconnected(error)) }
        return events
    }
}
