#if Etcd
import Foundation
import Logging
import Preferences
import PreferencesEtcd
import ServiceLifecycle

/// The settings that all greeters of a fleet share, from an etcd cluster.
///
///     $ (umask 077; printf '%s' "$PASSWORD" > greeter.password)
///     $ Examples/Service/create-etcd-user com.example.greeter greeter greeter.password
///     $ export GREETER_ETCD=http://127.0.0.1:2379 GREETER_ETCD_USER=greeter GREETER_ETCD_PASSWORD_FILE=greeter.password
///     $ swift run --package-path Examples/Service --traits Etcd greeter
///
/// While it runs, this changes the greeting of the whole fleet, and `grep -qx connected greeter.health` checks whether this greeter has it:
///
///     $ prefs --etcd $GREETER_ETCD --user greeter --password-file greeter.password write com.example.greeter greeting Welcome
struct Fleet {
    let store: PreferenceStore
    let services: [any Service]

    /// Creates the store of the cluster that the environment names; `nil` if it names none.
    init?(of environment: [String: String]) throws {
        guard let endpoints = environment["GREETER_ETCD"] else { return nil }
        var configuration = EtcdConfiguration(endpoints: endpoints.split(separator: ",").map(String.init))
        if let user = environment["GREETER_ETCD_USER"], let file = environment["GREETER_ETCD_PASSWORD_FILE"] {
            configuration.credentials = EtcdCredentials(user: user, passwordFile: file)
        }
        // The next start doesn't wait for etcd.
        configuration.cacheFile = URL(filePath: "greeter.cache.jsonl")
        let monitor = EtcdMonitor()
        store = try PreferenceStore.etcd("com.example.greeter", configuration, monitor: monitor)
        services = [EtcdService(store), HealthFile(path: "greeter.health", monitor: monitor)]
    }
}

/// A file for health checks: `connected`, or the reason why the values might be out of date.
///
/// It is removed when the program ends normally. After `kill -9` it stays until the next start, so a check looks for the process, too.
struct HealthFile: Service {
    let path: String
    let monitor: EtcdMonitor
    private let logger = Logger(label: "greeter.health")

    init(path: String, monitor: EtcdMonitor) {
        self.path = path
        self.monitor = monitor
    }

    func run() async {
        for await status in monitor.statuses.cancelOnGracefulShutdown() {
            let text = status.isConnected ? "connected" : status.error?.message ?? "not connected yet"
            change { try Data((text + "\n").utf8).write(to: URL(filePath: path), options: .atomic) }
        }
        change { try FileManager.default.removeItem(atPath: path) }
    }

    /// Changes the file; an error must not end the group of services.
    private func change(_ body: () throws -> Void) {
        do { try body() } catch { logger.error("\(path) can't be changed: \(error)") }
    }
}
#endif
