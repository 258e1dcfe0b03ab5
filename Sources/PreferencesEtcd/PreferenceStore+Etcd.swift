#if Etcd
public import Preferences

extension PreferenceStore {
    /// Creates a store whose values all machines share that use the same suite of the same etcd cluster.
    ///
    /// It connects at the first read or write. Reads return values from memory, which a watch keeps up to date. A write returns when a
    /// majority of the members has stored it: after at least a round trip, and after the configuration's `timeout` and one attempt at
    /// most. With `await` the task is suspended; otherwise the thread is blocked, and a call on an event loop fails with `misuse`.
    /// `transaction` and `update` are atomic across all machines.
    ///
    /// Each call creates a store with its own connection and watch: create one, and keep it.
    ///
    /// - Parameters:
    ///   - suite: The name of the set of values, such as `com.example.app`; not empty, and without a slash.
    ///   - configuration: The cluster, and the behaviour while it can't be reached.
    ///   - monitor: A monitor that shows the status of the connection.
    /// - Throws: `misuse`, `invalidName`, `notPermitted` or `unavailable` if the configuration, the suite's name, the password's file or
    ///   a certificate's file can't be used.
    public static func etcd(
        _ suite: String,
        _ configuration: EtcdConfiguration,
        monitor: EtcdMonitor = EtcdMonitor()
    ) throws(PreferenceError) -> PreferenceStore {
        let backend = try EtcdBackend(suite: suite, configuration, monitor: monitor) { () throws(PreferenceError) in
            try HTTPTransport(tls: configuration.tls, connectTimeout: configuration.attemptTimeout)
        }
        return PreferenceStore(backend: backend)
    }
}
#endif
