#if Etcd
import EtcdTestSupport
import Foundation
import Preferences
import PreferencesEtcd
import TestSupport
import Testing

/// The code of the guide, run on a real node if it can use the shared one.
@Suite(needsEtcd)
struct GuideTests {
    // snippet: declarations
    struct FleetPreferences: PreferenceGroup {
        @Preference("newCheckout") var newCheckout = false
        @Preference("rateLimit", .range(1...10_000)) var rateLimit = 100
        let orders = Preference("orders", default: 0)
    }
    // end

    @Test
    func storeIsUsedAsAnyOther() throws {
        let url = try SharedNode.get().endpoints[0]
        let suite = freshSuite()
        let endpoints = [url]
        // snippet: store
        let configuration = EtcdConfiguration(endpoints: endpoints)  // such as ["http://127.0.0.1:2379"]
        let store = try PreferenceStore.etcd(suite, configuration)  // such as "com.example.shop"
        let preferences = FleetPreferences(in: store)

        preferences.newCheckout = true  // every machine reads it once its watch has received it
        try preferences.orders.update { $0 += 1 }  // atomic across all machines
        // end
        #expect(try FleetPreferences(in: .etcd(suite, configuration)).newCheckout)
        same(preferences.orders.value, 1)
    }

    @Test
    func hostReadsSuitesOfItsOwn() async throws {
        let configuration = EtcdConfiguration.testing(try SharedNode.get().endpoints)
        let suite = freshSuite()
        for host in 3...4 {
            let store = try PreferenceStore.etcd("\(suite).host.web-\(host)", configuration)
            try await store.transaction { $0["rateLimit"] = .integer(Int64(host)) }
        }
        // snippet: suites over etcd
        let fleet = try PreferenceStore.etcd(suite, configuration)
        let store = try PreferenceStore.layered([
            .etcd("\(suite).host.web-3", configuration).readOnly(named: "host"),
            .etcd("\(suite).group.eu", configuration).readOnly(named: "group"),
            fleet,
        ])
        // end
        try await store.load()
        same(store["rateLimit"], 3)
        same(store.names, ["rateLimit"])
    }

    // snippet: rollout
    struct CheckoutPreferences: PreferenceGroup {
        @Preference("checkout") var checkout = Rollout(percent: 0, seed: "checkout")
        @Preference("rateLimit") var rateLimit = 100
    }
    // end

    @Test
    func hostsAndGroupsOverrideTheFleet() async throws {
        let node = try SharedNode.get()
        let configuration = EtcdConfiguration.testing(node.endpoints)
        let (suite, userID) = (freshSuite(), "user-42")
        // snippet: overrides over etcd
        let fleet = try PreferenceStore.etcd(suite, configuration)
        let store = PreferenceStore.layered([
            fleet.scoped(prefix: "host.web-3.").readOnly(named: "host"),
            fleet.scoped(prefix: "canary.").canary(for: "web-3"),
            fleet.scoped(prefix: "group.eu.").readOnly(named: "group"),
            fleet,
        ])
        let preferences = CheckoutPreferences(in: store)
        if preferences.checkout.includes(userID) { print("the new checkout") }
        preferences.$checkout[\.percent].value = 25  // everywhere; users who were included stay included
        print(preferences.$rateLimit.source)  // host, canary, group, store or default
        // end
        let key = "tests/\(suite)"
        #expect(try node.control("get", "--print-value-only", "\(key)/checkout").contains(#""seed":"checkout""#))
        for (name, value, source) in [
            ("rateLimit", 80, "store"), ("group.eu.rateLimit", 50, "group"),
            ("host.web-3.rateLimit", 10, "host"),
        ] {
            try node.control("put", "\(key)/\(name)", "\(value)")
            try await eventually("no notification of \(name)") { preferences.rateLimit == value }
            same(preferences.$rateLimit.source.name, source)
        }
        try node.control("put", "\(key)/checkout", #"{"percent":100,"seed":"checkout"}"#)
        try await eventually("no notification of the rollout") { preferences.checkout.includes(userID) }
    }

    @Test
    func tasksSuspendWhileTheyWrite() async throws {
        let store = try PreferenceStore.etcd(freshSuite(), .testing(SharedNode.get().endpoints))
        let preferences = FleetPreferences(in: store)
        // snippet: suspending
        try await store.load()
        try await preferences.$newCheckout.write(true)
        try await preferences.orders.update { $0 += 1 }
        // end
        #expect(preferences.newCheckout)
        same(preferences.orders.value, 1)
    }

    @Test
    func usersAndCertificatesAreConfigured() throws {
        // snippet: security
        var configuration = EtcdConfiguration(endpoints: [
            "https://etcd1.example.com:2379", "https://etcd2.example.com:2379", "https://etcd3.example.com:2379",
        ])
        configuration.tls = EtcdTLS(
            authority: "/etc/shop/authority.pem",
            certificate: "/etc/shop/client.pem",  // if the servers require one
            privateKey: "/etc/shop/client.key"
        )
        configuration.credentials = EtcdCredentials(user: "shop", password: password)
        // end
        #expect(throws: PreferenceError.self) { try PreferenceStore.etcd("shop", configuration) }
    }

    private let password = "secret"

    @Test
    func offlineUseIsAChoice() async throws {
        var configuration = EtcdConfiguration.testing(try SharedNode.get().endpoints)
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let suite = freshSuite()
        // snippet: offline
        configuration.cacheFile = folder.appending(path: "shop.jsonl")  // for a start without waiting for an endpoint
        let monitor = EtcdMonitor()
        let store = try PreferenceStore.etcd(suite, configuration, monitor: monitor)

        let task = Task {
            for await status in monitor.statuses {
                print(status.endpoint ?? "offline: \(status.error?.message ?? "not connected yet")")
            }
        }
        // end
        store["a"] = 1
        same(store["a"], 1)
        try await eventually("the watch was never opened") { monitor.status.isConnected }
        task.cancel()
    }
}
#endif
