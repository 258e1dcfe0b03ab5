#if Etcd
import EtcdTestSupport
import FileTestSupport
import Foundation
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of queued writes: their number, their time, and the end of the program.
@Suite(needsEtcd)
struct WaitingWritesTests {
    private let suite = freshSuite()
    private let cluster: EtcdCluster
    private let monitor = EtcdMonitor()
    private let folder: TemporaryFolder
    private var configuration: EtcdConfiguration

    init() throws {
        cluster = try SharedNode.get()
        folder = try TemporaryFolder()
        configuration = .testing(cluster.endpoints)
        configuration.offlineWrites = .queueing
    }

    private func stored(_ name: String) throws -> String {
        try cluster.control("get", "--print-value-only", "tests/\(suite)/\(name)")
    }

    private mutating func keep() {
        configuration.cacheFile = URL(filePath: folder.path("made/cache.jsonl"))
        configuration.keepsWaitingWrites = true
    }

    /// Creates and opens a store that can't reach the cluster until `mend` is called on its transport.
    private func offline(_ monitor: EtcdMonitor = EtcdMonitor()) throws -> (PreferenceStore, TestTransport) {
        var configuration = configuration
        // The watch tries for as long, and keeps a released store until then.
        configuration.timeout = .seconds(10)
        let transport = try TestTransport()
        let store = try PreferenceStore(etcd: suite, configuration, monitor: monitor, over: transport)
        transport.openWithoutConnection(store)
        return (store, transport)
    }

    /// Creates a store when the previous one has unlocked the queue's file, which its watch may retain for a moment.
    private func reopened(_ suite: String? = nil) async throws -> PreferenceStore {
        let suite = suite ?? self.suite
        var store: PreferenceStore?
        try await eventually("the file is never free") {
            do throws(PreferenceError) {
                store = try PreferenceStore.etcd(suite, configuration, monitor: monitor)
            } catch  where error.code == .misuse {}
            return store != nil
        }
        return try #require(store)
    }

    @Test
    mutating func numberOfQueuedWritesIsLimited() async throws {
        configuration.maximumWaitingWrites = 2
        let (store, transport) = try offline(monitor)
        try await store.write(1, for: "a")
        try await store.write(1, for: "b")
        let error = #expect(throws: PreferenceError.self) { try store.write(1, for: "c") }
        same(error?.code, .unavailable)
        same(store.contents, ["a": 1, "b": 1])
        try await store.write(2, for: "a")
        same(monitor.status.waitingWrites, 2)
        transport.mend()
        try await monitor.drain(within: .seconds(60))
        try same(stored("a"), "2\n")
        #expect(try stored("c").isEmpty)
    }

    @Test
    func contradictoryConfigurationIsRejected() throws {
        let configuration = configuration
        func code(_ change: (inout EtcdConfiguration) -> Void) -> PreferenceError.Code? {
            var changed = configuration
            change(&changed)
            do throws(PreferenceError) { _ = try PreferenceStore.etcd(suite, changed) } catch { return error.code }
            return nil
        }
        same(code { $0.maximumWaitingWrites = 0 }, .misuse)
        same(code { $0.keepsWaitingWrites = true }, .misuse)
        let file = URL(filePath: folder.path("cache.jsonl"))
        same(
            code {
                $0.keepsWaitingWrites = true
                $0.offlineWrites = .failing
                $0.cacheFile = file
            },
            .misuse
        )
    }

    @Test
    mutating func keptWritesAreShownAndSentByTheNextStart() async throws {
        keep()
        try await PreferenceStore.etcd(suite, .testing(cluster.endpoints)).write(5, for: "counter")
        do {
            let store = try await reopened()
            same(store["counter"], 5)
        }
        do {
            var store: PreferenceStore?
            try await eventually("the file is never free") {
                do { store = try offline().0 } catch let error as PreferenceError where error.code == .misuse {}
                return store != nil
            }
            let reports = Reports(of: try #require(store))
            try await store?.write("dark", for: "theme")
            try await store?.write(nil, for: "gone")
            try await store?.transaction { transaction in
                if transaction["counter"] == 5 { transaction["counter"] = 6 }
            }
            same(store?["counter"], 6)
            store = nil
            same(reports.codes, [], "they are not lost with the store")
        }
        let next = try await reopened()
        same(next["theme"], "dark")
        same(next["counter"], 6)
        try await monitor.drain(within: .seconds(60))
        try same(stored("theme"), "\"dark\"\n")
        try same(stored("counter"), "6\n")
        #expect(try PreferenceStore.file(at: URL(filePath: folder.path("made/cache.jsonl.queue"))).contents.isEmpty)
    }

    @Test(arguments: [false, true])
    mutating func keptConditionIsCheckedWhenItIsSentAndReportedIfItMayBeStored(isInDoubt: Bool) async throws {
        keep()
        try await PreferenceStore.etcd(suite, .testing(cluster.endpoints)).write(5, for: "counter")
        let transport = try TestTransport { $0 == 1 ? .lostConnection : nil }
        do {
            var configuration = configuration
            configuration.timeout = .seconds(10)
            let first = EtcdMonitor()
            let store = try PreferenceStore(etcd: suite, configuration, monitor: first, over: transport)
            same(store["counter"], 5)
            if !isInDoubt {
                try await transport.cut(first)
            }
            try await store.transaction { transaction in
                if transaction["counter"] == 5 { transaction["counter"] = 6 }
            }
            same(first.status.waitingWrites, 1)
        }
        try cluster.control("put", "tests/\(suite)/counter", "100")
        let next = try await reopened()
        let reports = Reports(of: next)
        try await next.load()
        try await monitor.drain(within: .seconds(60))
        try await eventually("it shows \(next.contents)") { next["counter"] == 100 }
        try await eventually("it reports \(reports.codes)") {
            reports.codes == [isInDoubt ? .outcomeUnknown : .conflict]
        }
    }

    private func writeOffline(_ value: PropertyListValue, for name: String) async throws {
        let (store, _) = try offline()
        try await store.write(value, for: name)
    }

    private func expectNoWrites(in store: PreferenceStore) async throws {
        let reports = Reports(of: store)
        try await store.load()
        same(reports.codes, [.misuse])
        #expect(store.names.isEmpty)
    }

    @Test
    mutating func queueOfAnotherSuiteIsKeptAndNotSent() async throws {
        keep()
        try await writeOffline(1, for: "value")
        try await expectNoWrites(in: reopened("\(suite).other"))
        let store = try await reopened()
        try await store.load()
        try await store.flush()
        try same(stored("value"), "1\n")
    }

    /// Such a write can neither be shown nor compared.
    @Test
    mutating func queueWithANameThatIsNotReadAnyMoreIsKept() async throws {
        keep()
        try await writeOffline(1, for: "host.web-2.value")
        configuration.scopes = ["host": ["web-1"]]
        do {
            let store = try await reopened()
            let error = await #expect(throws: PreferenceError.self) { try await store.load() }
            same(error?.code, .misuse)
        }
        #expect(try stored("host.web-2.value").isEmpty)
        configuration.scopes = [:]
        let store = try await reopened()
        try await store.load()
        try await store.flush()
        try same(stored("host.web-2.value"), "1\n")
    }

    @Test
    mutating func secondStoreOverTheSameQueueIsRejected() throws {
        keep()
        let store = try PreferenceStore.etcd(suite, configuration)
        let error = #expect(throws: PreferenceError.self) { try PreferenceStore.etcd(suite, configuration) }
        same(error?.code, .misuse)
        withExtendedLifetime(store) {}
    }

    @Test
    func drainReportsUnsentWritesAfterItsTime() async throws {
        let (store, transport) = try offline(monitor)
        try await monitor.drain(within: .zero)
        for name in ["a", "b"] { try await store.write(1, for: name) }
        let error = await #expect(throws: PreferenceError.self) { try await monitor.drain(within: .milliseconds(1)) }
        same(error?.code, .notDurable)
        same(error?.message.contains("2 queued writes (a, b)"), true)
        same((error?.cause as? PreferenceError)?.code, .unavailable)
        transport.mend()
        try await monitor.drain(within: .seconds(60))
        try same(stored("a"), "1\n")
        try same(stored("b"), "1\n")
    }

    @Test
    func writesThatAreLostWithTheStoreAreReported() async throws {
        var store: PreferenceStore? = try offline().0
        let reports = Reports(of: try #require(store))
        try await store?.write(1, for: "a")
        store = nil
        try await eventually("it reports \(reports.codes)") { reports.codes == [.notDurable] }
    }

    @Test
    func writesThatAreLostWithTheProgramAreReported() throws {
        let process = Process()
        process.executableURL = URL(filePath: BuiltProgram.path("etcd-torture"))
        process.arguments = ["worker", "leave", "0", "http://127.0.0.1:\(try EtcdCluster.ports(1)[0])"]
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        same(process.terminationStatus, 0)
        #expect(text.contains("1 queued writes (left) are lost, as the program ended"))
    }
}
#endif
