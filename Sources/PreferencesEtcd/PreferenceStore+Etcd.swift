#if Etcd
public import Preferences

extension PreferenceStore {
    /// A store that every machine shares which reaches the same etcd cluster.
    ///
    /// It is connected to at the first read or write. Reads are served from memory, which a watch keeps current. A set
    /// returns when most members have stored it: it takes at least a round trip, and up to the configuration's `timeout` and an
    /// attempt while the cluster can't answer. With `await` the task is suspended; otherwise the thread is blocked, and an event loop
    /// gets `misuse`. `transaction` and `update` are atomic over the whole fleet.
    ///
    /// Each call makes a store with a connection and a watch of its own: make one, and keep it.
    ///
    /// - Parameters:
    ///   - suite: What the values belong to, such as `com.example.app`; not empty, and without a slash.
    ///   - configuration: The cluster, and what to do while it can't be reached.
    ///   - monitor: Is told how the store stands to the cluster.
    /// - Throws: Where the suite's name, the endpoints or a certificate file can't be used.
    public static func etcd(
        _ suite: String,
        _ configuration: EtcdConfiguration,
        monitor: EtcdMonitor = EtcdMonitor()
    ) throws(PreferencesError) -> PreferenceStore {
        let backend = try EtcdBackend(suite: suite, configuration, monitor: monitor) { () throws(PreferencesError) in
            try HTTPTransport(tls: configuration.tls, connectTimeout: configuration.attemptTimeout)
        }
        return PreferenceStore(backend: backend)
    }
}
#endif
