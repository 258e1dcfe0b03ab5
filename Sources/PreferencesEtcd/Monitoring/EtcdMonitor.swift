internal import DurableFile
public import Preferences

/// The status of a store's connection to its cluster, and of its queued writes.
public struct EtcdStatus: Sendable {
    /// The URL of the member that sends the changes, or `nil` while the store is disconnected.
    public internal(set) var endpoint: String?
    /// The reason why the store is disconnected, or `nil` while it is connected or connects for the first time.
    public internal(set) var error: PreferenceError?
    /// The number of queued writes.
    public internal(set) var waitingWrites = 0
    /// The error with which the servers rejected the queued writes, such as `noSpace`, `notPermitted` or `unavailable`; `nil` if they
    /// did not, or if none was sent.
    public internal(set) var refusal: PreferenceError?

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
        /// The closures of that backend, which hold it weakly. They are called without the lock: a strong reference that they make
        /// may be the last, and the backend's `deinit` takes the lock.
        var sendQueue: @Sendable () -> Void = {}
        var describeQueue: @Sendable () -> String? = { nil }
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

    /// Waits until no write is queued, and sends the queued ones at once if the store is connected; suspends, and blocks no thread.
    ///
    /// - Parameter duration: The time to wait.
    /// - Throws: `notDurable`, with the number, names and reason, if writes are still queued after the time, or when the store is
    ///   released or the task is cancelled.
    public func drain(within duration: Duration) async throws(PreferenceError) {
        state.withLock { $0.sendQueue }()
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
        let queued = state.withLock { $0.describeQueue }()
        throw PreferenceError(
            .notDurable,
            "\(queued ?? "\(status.waitingWrites) queued writes of a released store") were not sent within \(duration)",
            cause: status.refusal ?? status.error
        )
    }

    /// Shows the status of a backend, in place of an earlier one's.
    ///
    /// - Parameters:
    ///   - backend: The backend, of which only the identity is kept.
    ///   - sendQueue: A closure that requests that the queued writes are sent; it must not retain the backend.
    ///   - describeQueue: A closure that returns the number and names of the queued writes, or `nil` if there are none; it must not
    ///     retain the backend.
    func attach(
        _ backend: AnyObject,
        sendQueue: @escaping @Sendable () -> Void,
        describeQueue: @escaping @Sendable () -> String?
    ) {
        state.withLock { state in
            // An earlier store's status says nothing about this one.
            (state.status, state.wasConnected) = (EtcdStatus(), false)
            state.shown = ObjectIdentifier(backend)
            state.sendQueue = sendQueue
            state.describeQueue = describeQueue
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

    func setWaitingWrites(_ count: Int) {
        if status.waitingWrites != count { change { $0.waitingWrites = count } }
    }

    func setRefusal(_ reason: PreferenceError?) {
        if status.refusal?.code != reason?.code { change { $0.refusal = reason } }
    }

    /// Ends the sequences of statuses, unless another backend is attached already.
    func finish(_ backend: AnyObject) {
        let (observers, record) = state.withLock { state in
            guard state.shown == ObjectIdentifier(backend) else {
                return ([:] as [Int: AsyncStream<EtcdStatus>.Continuation], nil as (@Sendable (EtcdEvent) -> Void)?)
            }
            state.isFinished = true
            // The queued writes and the error stay, for a `drain` that has to say why.
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
        if waitingWrites != old.waitingWrites {
            events.append(.waiting(from: old.waitingWrites, to: waitingWrites))
        }
        return events
    }
}
