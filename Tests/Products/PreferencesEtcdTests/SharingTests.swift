#if Etcd
import EtcdTestSupport
import Foundation
@testable import Preferences
import PreferencesValidation
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of stores that share one node, in one process in place of several machines.
@Suite(needsEtcd)
struct SharingTests {
    private let cluster: EtcdCluster
    private let configuration: EtcdConfiguration
    private let suite = freshSuite()

    init() throws {
        cluster = try SharedNode.get()
        configuration = .testing(cluster.endpoints)
    }

    private func open() throws -> PreferenceStore { try .etcd(suite, configuration) }

    @Test
    func setIsReadAndObservedByAnotherStore() async throws {
        let (first, second) = (try open(), try open())
        let theme = Preference("theme", default: "light", in: second)
        let seen = Lock<[String]>([])
        let observation = theme.observe { change in
            seen.withLock { $0.append("\(change.old) \(change.new) \(change.origin)") }
        }
        first["theme"] = "dark"
        same(first["theme"], "dark")
        try await eventually("the other store never saw it") { seen.withLock { $0 } == ["light dark external"] }
        same(theme.value, "dark")
        observation.cancel()
    }

    @Test
    func validatedStoreShowsOnlyValidStates() async throws {
        struct Service: PreferenceGroup {
            @Preference("port", .range(1...65535)) var port = 8080
            @Preference("host", .required) var host: String?
        }
        let (remote, local) = (try open(), try open())
        try await local.load()
        // The start fails while the host is missing.
        #expect(throws: PreferenceProblems.self) { try PreferenceStore.validated(Service.self, over: local) }
        try await remote.write("a", for: "host")
        try await eventually("the host was not seen") { local["host"] == "a" }
        let store = try PreferenceStore.validated(Service.self, over: local)
        let service = Service(in: store)
        let seen = Lock<[Int]>([])
        let problems = Lock<[PreferenceError]>([])
        store.issueHandler = { issue in problems.withLock { $0.append(issue) } }
        let observation = service.$port.observe { change in seen.withLock { $0.append(change.new) } }
        try await remote.write("ninety", for: "port")
        try await eventually("the problem was not reported") { problems.withLock { !$0.isEmpty } }
        #expect(service.port == 8080 && service.host == "a")
        try await service.$host.write("b")
        same(service.host, "b")
        try await remote.write(91, for: "port")
        try await eventually("the valid state was not shown") { seen.withLock { $0 } == [91] }
        #expect(service.port == 91 && service.host == "b")
        await #expect(throws: PreferenceError.self) { try await service.$port.write(0) }
        try await remote.load()
        #expect(remote["port"] == 91 && remote["host"] == "b")
        same(problems.withLock { $0.count }, 1)
        observation.cancel()
    }

    /// Without a watch, as if that were slow.
    @Test
    func loadReadsWhatTheWatchHasNotDelivered() async throws {
        let transport = try TestTransport()
        transport.cutStreams()
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        let other = try open()
        try await other.transaction { ($0["a"], $0["b"]) = (1, 1) }
        try await store.load()
        let seen = Lock<[[String: PropertyListValue]]>([])
        let observation = Preference("a", default: 0, in: store).observe { _ in
            seen.withLock { $0.append(store.contents) }
        }
        try await other.transaction { ($0["a"], $0["b"], $0["c"]) = (2, nil, 2) }
        try await store.load()
        same(store.contents, ["a": 2, "c": 2])
        same(seen.withLock { $0 }, [["a": 2, "c": 2]])
        let before = transport.suiteReads
        try await other.write(3, for: "a")
        try await store.load()
        #expect(store["a"] == 3 && transport.suiteReads == before)
        transport.cut()
        await #expect(throws: PreferenceError.self) { try await store.load() }
        same(store["a"], 3)
        observation.cancel()
    }

    /// Programs of two versions that set whole values at once, each without the other one's member.
    @Test
    func membersOfAnotherVersionAreKept() async throws {
        struct First: Codable { var x = 0, width = 0 }
        struct Second: Codable { var x = 0, height = 0 }
        let (first, second) = (try open(), try open())
        try await first.write(["later": ["a": 1]], for: "frame")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let frame = Preference("frame", default: First(), in: first)
                for number in 1...20 { try await frame[\.width].write(number) }
            }
            group.addTask {
                let frame = Preference("frame", default: Second(), in: second)
                for number in 1...20 { try await frame.write(Second(height: number)) }
            }
            try await group.waitForAll()
        }
        try await first.load()
        same(first["frame"], ["later": ["a": 1], "x": 0, "width": 20, "height": 20])
    }

    /// Adds one the given number of times, and repeats updates that throw `conflict`.
    private func count(_ times: Int, in store: PreferenceStore) throws {
        let counter = Preference("counter", default: 0, in: store)
        var done = 0
        while done < times {
            do {
                try counter.update { $0 += 1 }
                done += 1
            } catch let error as PreferenceError where error.code == .conflict { continue }
        }
    }

    @Test
    func updatesOfManyThreadsAndStoresAddUp() async throws {
        let stores = try (0..<4).map { _ in try open() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                for _ in 0..<2 {
                    group.addTask {
                        try count(25, in: store)
                    }
                }
            }
            try await group.waitForAll()
        }
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/counter"), "200\n")
        for store in stores { try await eventually("a store lags behind") { store["counter"] == 200 } }
    }

    private final class Flag: Sendable {
        private let state = Lock(false)
        var isSet: Bool { state.withLock { $0 } }
        func set() { state.withLock { $0 = true } }
    }

    /// One store updates a name without a pause; updates of another one are stored too.
    @Test
    func updatesAreStoredWhileAnotherStoreUpdatesWithoutAPause() async throws {
        let (busy, other) = (try open(), try open())
        let done = Flag()
        let longest = try await withThrowingTaskGroup(of: Duration.self) { group in
            group.addTask {
                while !done.isSet { try count(1, in: busy) }
                return .zero
            }
            group.addTask {
                defer { done.set() }
                return try (0..<20).map { _ in try ContinuousClock().measure { try count(1, in: other) } }.max()
                    ?? .zero
            }
            return try await group.reduce(.zero, max)
        }
        #expect(longest < .seconds(10))
    }

    @Test
    func valuesInEtcdHaveTheFormOfTheFileStore() throws {
        let store = try open()
        store["real"] = 2.0
        store["data"] = .data(Data([0, 1]))
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/real"), "2.0\n")
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/data"), "{\"$data\":\"AAE=\"}\n")
    }

    @Test
    func putsAndDeletionsByEtcdctlAreObserved() async throws {
        let store = try open()
        let reports = Reports(of: store)
        store["volume"] = 3
        try cluster.control("put", "tests/\(suite)/theme", "\"dark\"")
        try cluster.control("del", "tests/\(suite)/volume")
        try await eventually("the changes never came") { store.contents == ["theme": "dark"] }
        try cluster.control("put", "tests/\(suite)/theme", "dark without quotes")
        try await eventually("the value is not reported") { reports.codes.contains(.damaged) }
        same(store["theme"], "dark")
        store["theme"] = "light"
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/theme"), "\"light\"\n")
    }

    @Test
    func storeThatIsReleasedEndsItsWatchAndConnections() async throws {
        weak var transport: TestTransport?
        do {
            let used = try TestTransport()
            transport = used
            let store = try PreferenceStore(etcd: suite, configuration, over: used)
            store["a"] = 1
            same(store["a"], 1)
        }
        try await eventually("something still holds the connection") { transport == nil }
    }

    @Test
    func suitesAndPrefixesAreSeparate() throws {
        let store = try open()
        store["a"] = 1
        #expect(try PreferenceStore.etcd(suite + "2", configuration).contents.isEmpty)
        var other = configuration
        other.prefix = "elsewhere"
        #expect(try PreferenceStore.etcd(suite, other).contents.isEmpty)
        try same(open().contents, ["a": 1])
    }

    @Test
    func requestThatIsTooLargeIsRejectedAndChangesNothing() throws {
        var configuration = configuration
        configuration.attemptTimeout = .seconds(30)
        let store = try open()
        let text = Preference("text", default: "", in: store)
        try text.write("small")
        for size in [1_600_000, 4_000_000] {
            let error = #expect(throws: PreferenceError.self) { try text.write(String(repeating: "x", count: size)) }
            same(error?.code, .tooLarge)
        }
        same(text.value, "small")
        try text.write(String(repeating: "x", count: 1_000_000))
        same(text.value.count, 1_000_000)
    }

    @Test
    func transactionOverTheLimitOfEtcdIsAtomic() throws {
        let store = try open()
        try store.transaction { transaction in
            for index in 0..<1000 { transaction["name \(index)"] = .integer(Int64(index)) }
        }
        try same(open().names.count, 1000)
        let revisions = try cluster.control("get", "--prefix", "-w", "json", "--keys-only", "tests/\(suite)/")
        same(Set(revisions.matches(of: #/"mod_revision":(\d+)/#).map { String($0.1) }).count, 1)
    }

    /// Half of the answers and requests are lost, and the store finds out whether each update was executed.
    @Test
    func updatesWhoseAnswersAreLostAreExecutedOnce() async throws {
        let stores = try (0..<3).map { index in
            let transport = try TestTransport { number in
                switch (number + index) % 4 {
                case 0: .lostAnswer
                case 1: .lostRequest
                default: nil
                }
            }
            return try PreferenceStore(etcd: suite, configuration, over: transport)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask {
                    try count(30, in: store)
                }
            }
            try await group.waitForAll()
        }
        try same(cluster.control("get", "--print-value-only", "tests/\(suite)/counter"), "90\n")
    }

    @Test
    func removalWhoseAnswerIsLostIsExecutedByOneStore() throws {
        try open().transaction { $0["job"] = 1 }
        let transport = try TestTransport { $0 == 1 ? .lostAnswer : nil }
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        let isClaimed = try store.transaction { transaction in
            defer { transaction["job"] = nil }
            return transaction["job"] != nil
        }
        #expect(isClaimed)
        #expect(try open().contents.isEmpty)
    }

    /// A delayed copy of a request arrives after the name that it put was removed.
    @Test(arguments: [false, true])
    func delayedRequestRestoresNoRemovedName(isRemovedByItsWriter: Bool) throws {
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        try store.write(1, for: "job")
        let remover = isRemovedByItsWriter ? store : try open()
        try remover.write(nil, for: "job")
        try transport.repeatWrite(1)
        #expect(try cluster.control("get", "tests/\(suite)/job").isEmpty)
        try store.write(2, for: "job")
        try same(open().contents, ["job": 2])
    }

    /// The answer to a first set is lost, and the name is removed without its guard before the set is repeated.
    @Test
    func repeatedSetRestoresNoNameThatAnotherProgramRemoved() throws {
        let key = "tests/\(suite)/job"
        let transport = try TestTransport { [cluster] number in
            number == 1 ? .otherAnswer(.unreachable("lost")) { _ = try cluster.control("del", key) } : nil
        }
        let store = try PreferenceStore(etcd: suite, configuration, over: transport)
        try store.write(1, for: "job")
        #expect(try cluster.control("get", key).isEmpty)
    }

    /// The events of the watch arrive after the store's own writes.
    @Test
    func olderExternalChangesAreDeliveredAfterAnOwnSetAndOverwriteNothing() async throws {
        let store = try open()
        let other = try open()
        for round in 1...50 {
            try await other.transaction { transaction in
                transaction["a"] = .integer(Int64(round))
                transaction["b"] = .integer(Int64(round))
            }
            try await store.write(.integer(Int64(-round)), for: "b")
            same(store["b"], .integer(Int64(-round)))
        }
        try await eventually("it shows \(store.contents)") { store.contents == ["a": 50, "b": -50] }
        try await eventually("the other shows \(other.contents)") { other.contents == ["a": 50, "b": -50] }
    }
}
#endif
