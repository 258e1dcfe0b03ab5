#if Etcd
public import Preferences
public import ServiceLifecycle

/// A service that loads a store when a `ServiceGroup` runs it, and sends the queued writes before the program ends.
///
/// List it before the services that use the store. The group shuts services down in reverse order, so they have made their
/// last writes by then:
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
    ///   - store: A store created by `PreferenceStore.etcd(_:_:monitor:)`.
    ///   - monitor: The monitor that was passed to the store.
    ///   - drainTimeout: The time that a graceful shutdown waits for queued writes; 10 s by default.
    public init(_ store: PreferenceStore, monitor: EtcdMonitor, drainTimeout: Duration = .seconds(10)) {
        self.store = store
        self.monitor = monitor
        self.drainTimeout = drainTimeout
    }

    /// Loads the store, waits for a graceful shutdown, and returns when no write is queued.
    ///
    /// If etcd can't be reached, the store reports that and the service continues: the values arrive when a member answers. The store
    /// accepts writes until the end, also during the shutdown.
    ///
    /// - Throws: `notDurable` if writes are still queued after `drainTimeout`, or if the task is cancelled during the shutdown: they
    ///   are lost with the program unless the configuration keeps them. `CancellationError` if the task is cancelled before.
    public func run() async throws {
        do throws(PreferenceError) { try await store.load() } catch { store.report(error) }
        try await gracefulShutdown()
        try await monitor.drain(within: drainTimeout)
    }
}
#endif
