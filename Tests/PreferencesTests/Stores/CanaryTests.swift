import PreferencesEtcd
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// Values for a share of the hosts, over those of all.
struct CanaryTests {
    private struct Fleet: PreferenceGroup {
        @Preference("rateLimit") var rateLimit = 100
        @Preference("endpoint") var endpoint = "https://example.com"
    }

    private static func fleet(_ store: PreferenceStore, on host: String) -> PreferenceStore {
        .layered([store.scoped(prefix: "canary.").canary(for: host), store])
    }

    @Test(arguments: StoreKind.allCases)
    func hostsOfTheShareFollowTheCanaryAndTheOthersTheFleet(kind: StoreKind) throws {
        try kind.withStore { store in
            store["rateLimit"] = 10
            store["canary.rateLimit"] = ["percent": 30, "value": 50, "seed": "a"]
            let share = Rollout(percent: 30, seed: "a")
            let hosts = (1...40).map { "web-\($0)" }
            let included = hosts.filter(share.includes)
            #expect((4...25).contains(included.count))
            for host in hosts {
                let fleet = Fleet(in: Self.fleet(store, on: host))
                same(fleet.rateLimit, share.includes(host) ? 50 : 10, "\(host)")
                same(fleet.$rateLimit.source.name, share.includes(host) ? "canary" : "store", "\(host)")
                same(fleet.endpoint, "https://example.com")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func changeOfTheShareOrOfTheValueIsOneChangeOfThePreference(kind: StoreKind) throws {
        try kind.withStore { store in
            let fleet = Fleet(in: Self.fleet(store, on: "web-3"))
            let seen = Lock<[[Int]]>([])
            let observation = fleet.$rateLimit.observe { change in
                seen.withLock { $0.append([change.old, change.new]) }
            }
            store["canary.rateLimit"] = ["percent": 0, "value": 50]
            store["canary.rateLimit"] = ["percent": 100, "value": 50]
            store["canary.rateLimit"] = ["percent": 100, "value": 60]
            // Below a canary's value, the fleet's isn't shown.
            store["rateLimit"] = 10
            store["canary.rateLimit"] = nil
            same(seen.withLock { $0 }, [[100, 50], [50, 60], [60, 10]])
            observation.cancel()
        }
    }

    @Test
    func anotherFormIsReportedOnceAndHasNoValue() {
        let store = PreferenceStore.inMemory([
            "canary.rateLimit": 50, "canary.endpoint": ["percent": 200, "value": "x"],
        ])
        let stack = Self.fleet(store, on: "web-3")
        let issues = Recorder<PreferenceError>()
        stack.issueHandler = { issues.record($0) }
        let fleet = Fleet(in: stack)
        #expect(fleet.rateLimit == 100 && fleet.endpoint == "https://example.com")
        same(fleet.rateLimit, 100)
        let found = issues.elements.sorted { $0.name ?? "" < $1.name ?? "" }
        #expect(found.map(\.name) == ["endpoint", "rateLimit"] && found.allSatisfy { $0.code == .unreadable })
        same(found.last?.message.hasPrefix("expected a share and a value, such as"), true, "\(found)")
        #expect(found.allSatisfy { $0.message.hasSuffix("(canary layer)") }, "\(found)")
        // A form that becomes wrong ends the canary.
        store["canary.rateLimit"] = ["percent": 100, "value": 50]
        same(fleet.rateLimit, 50)
        store["canary.rateLimit"] = ["percent": 100]
        #expect(fleet.rateLimit == 100 && issues.elements.count == 3)
    }

    @Test
    func onlyTheDictionariesCanBeWritten() throws {
        let canary = PreferenceStore.inMemory(["rateLimit": ["percent": 100, "value": 50]]).canary(for: "web-3")
        same(canary["rateLimit"], 50)
        let error = #expect(throws: PreferenceError.self) { try canary.write(60, for: "rateLimit") }
        same(error?.code, .readOnly)
        same(canary["rateLimit"], 50)
    }

    @Test
    func canaryStaysOverTheStoreThatItWasCreatedFrom() {
        PreferenceStore.withIsolatedStores(["rateLimit": ["percent": 100, "value": 50]]) {
            let canary = PreferenceStore.standard.canary(for: "web-3")
            PreferenceStore.withIsolatedStores { same(canary["rateLimit"], 50) }
        }
    }

    /// The fleet's store can be opened at a later attempt, and then changes.
    @Test
    func storeThatCanNotBeOpenedIsFollowedWhenItCan() throws {
        let backend = FaultInjectingBackend(["canary.rateLimit": ["percent": 100, "value": 50]])
        let store = PreferenceStore(backend: backend)
        let fleet = Fleet(in: Self.fleet(store, on: "web-3"))
        backend.failNext(.load, count: .max)
        #expect(throws: PreferenceError.self) { try fleet.$rateLimit.read() }
        same(fleet.rateLimit, 100)
        backend.failNext(.load, count: 0)
        try store.load()
        try same(fleet.$rateLimit.read(), 50)
        same(fleet.rateLimit, 50)
    }

    @Test
    func taskIsSuspendedWhileTheStoreIsOpened() async throws {
        let store = PreferenceStore.inMemory(["canary.rateLimit": ["percent": 100, "value": 50]])
        let fleet = Self.fleet(store, on: "web-3")
        try await fleet.load()
        same(fleet["rateLimit"], 50)
        try await fleet.load()
        same(fleet["rateLimit"], 50)
    }
}
