#if Etcd
internal import DurableFile
public import Preferences
public import ServiceLifecycle

/// A store's life in a `ServiceGroup`: it is loaded when the service runs, and what waits is sent before the program ends.
///
/// List it before the services that use the store. The group shuts services down in the reverse order, so that their last
/// writes are made by then:
///
///     let group = ServiceGroup(services: [EtcdService(store, monitor: monitor), server], logger: logger)
///     try await group.run()
public struct EtcdService: Service {
    private let store: PreferenceStore
    private let monitor: EtcdMonitor
    private let drainTimeout: Duration

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - store: A store made by `PreferenceStore.etcd(_:_:monitor:)`.
    ///   - monitor: The monitor that the store was made with.
    ///   - drainTimeout: How long a graceful shutdown waits for writes that were queued.
    public init(_ store: PreferenceStore, monitor: EtcdMonitor, drainTimeout: Duration = .seconds(10)) {
        self.store = store
        self.monitor = monitor
        self.drainTimeout = drainTimeout
    }

    /// Loads the store, on a thread of its own, and returns when a graceful shutdown was asked for and no write waits.
    ///
    /// If etcd can't be reached the store reports it and the service goes on: values come when a member answers. The store
    /// takes writes until the end, also during the shutdown.
    ///
    /// - Throws: `notDurable` if writes still wait after `drainTimeout`: they end with the program. `CancellationError` if
    ///   the task is cancelled, which waits for nothing.
    public func run() async throws {
        try await load()
        try await gracefulShutdown()
        try await drain()
    }

    /// The first read blocks its thread for a round trip, and for `timeout` while no member answers.
    private func load() async throws(PreferencesError) {
        let isStarted: Bool = await withCheckedContinuation { continuation in
            let isStarted = WorkerThread.start("etcd load") { [store] in
                _ = store.names
                continuation.resume(returning: true)
            }
            if !isStarted { continuation.resume(returning: false) }
        }
        guard isStarted else {
            throw PreferencesError(.unavailable, "the system has no thread left to load the store with; end some")
        }
    }

    private func drain() async throws {
        guard monitor.status.waitingWrites > 0 else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [monitor] in
                for await status in monitor.statuses where status.waitingWrites == 0 { return }
            }
            group.addTask { [drainTimeout] in try await Task.sleep(for: drainTimeout) }
            try await group.next()
            group.cancelAll()
        }
        let count = monitor.status.waitingWrites
        guard count == 0 else {
            throw PreferencesError(
                .notDurable,
                "\(count) writes still waited for etcd when the program ended, and are lost; give the service a longer "
                    + "drainTimeout, or see why no endpoint could be reached"
            )
        }
    }
}
#endif
