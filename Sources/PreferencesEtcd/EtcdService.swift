#if Etcd
public import Preferences
public import ServiceLifecycle

/// A service that loads a store when a `ServiceGroup` runs it, and stores what properties have set before the program ends.
///
/// List it before the services that use the store. The group shuts services down in reverse order, so they have made their
/// last writes by then:
///
///     let group = ServiceGroup(services: [EtcdService(store), server], logger: logger)
///     try await group.run()
public struct EtcdService: Service {
    private let store: PreferenceStore

    /// Creates the service of a store over etcd.
    public init(_ store: PreferenceStore) { self.store = store }

    /// Loads the store, waits for a graceful shutdown, and returns when all that was set is stored.
    ///
    /// If etcd can't be reached, the store reports that and the service continues: the values arrive when a member answers. The store
    /// accepts writes until the end, also during the shutdown.
    ///
    /// - Throws: An error if a value that a property has set can't be stored within the store's timeout. `CancellationError` if the task
    ///   is cancelled before the shutdown.
    public func run() async throws {
        do throws(PreferenceError) { try await store.load() } catch { store.report(error) }
        try await gracefulShutdown()
        try await store.flush()
    }
}
#endif
