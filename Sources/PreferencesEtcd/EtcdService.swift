#if Etcd
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

    /// Loads the store, and returns when a graceful shutdown was asked for and no write waits.
    ///
    /// If etcd can't be reached the store reports it and the service goes on: values come when a member answers. The store
    /// takes writes until the end, also during the shutdown.
    ///
    /// - Throws: `notDurable` if writes still wait after `drainTimeout`, or when the task is cancelled: they end with the program,
    ///   unless the configuration keeps them. `CancellationError` if the task is cancelled before.
    public func run() async throws {
        do throws(PreferencesError) { try await store.load() } catch { store.report(error) }
        try await gracefulShutdown()
        try await monitor.drain(within: drainTimeout)
    }
}
#endif
