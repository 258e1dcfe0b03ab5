#if Etcd
import EtcdTestSupport
import Foundation
import Preferences
import Testing

@_spi(Tool) @testable import PreferencesEtcd

/// Tests of the log of a suite's transactions.
@Suite(needsEtcd)
struct HistoryTests {
    private let cluster: EtcdCluster
    private let configuration: EtcdConfiguration
    private let suite = freshSuite()

    init() throws {
        cluster = try SharedNode.get()
        configuration = .testing(cluster.endpoints)
    }

    /// Returns all transactions that are still known, the newest first, and whether older ones are compacted.
    private func transactions() throws -> ([EtcdHistory.Transaction], isCompacted: Bool) {
        var history = try EtcdHistory(suite, configuration)
        var transactions: [EtcdHistory.Transaction] = []
        while let transaction = try history.next() { transactions.append(transaction) }
        #expect(try history.next() == nil)
        return (transactions, history.isCompacted)
    }

    @Test
    func transactionsAreShownWithTheirValuesAndOriginNewestFirst() async throws {
        var configuration = configuration
        configuration.reason = "the \"eu\" load"
        let (first, second) = (
            try PreferenceStore.etcd(suite, self.configuration), try PreferenceStore.etcd(suite, configuration)
        )
        let before = Date()
        try await first.write(5, for: "volume")
        try await second.transaction { transaction in
            transaction["volume"] = 7
            transaction["theme"] = "dark"
        }
        try await second.write(nil, for: "volume")
        let (all, isCompacted) = try transactions()
        #expect(all.map(\.old) == [["volume": 7], ["volume": 5], [:]])
        #expect(all.map(\.new) == [[:], ["volume": 7, "theme": "dark"], ["volume": 5]])
        #expect(all.map(\.reason) == ["the \"eu\" load", "the \"eu\" load", nil])
        #expect(all.map(\.revision) == all.map(\.revision).sorted(by: >) && !isCompacted)
        for transaction in all {
            let author = try #require(transaction.author)
            #expect(author == "\(ProcessInfo.processInfo.userName)@\(ProcessInfo.processInfo.hostName)")
            #expect(transaction.program == ProcessInfo.processInfo.processName)
            // The mark has whole seconds.
            let time = try #require(transaction.time)
            #expect(time > before.addingTimeInterval(-1) && time <= Date())
        }
    }

    @Test
    func suiteWithoutATransactionHasNone() throws {
        _ = try cluster.control("put", "tests/\(suite)/volume", "5")
        let (all, isCompacted) = try transactions()
        #expect(all.isEmpty && !isCompacted)
    }

    /// A mark of an older version is a unique text alone, and one of many names doesn't list them.
    @Test
    func marksWithoutNamesAreComparedByTheWholeSuite() async throws {
        let store = try PreferenceStore.etcd(suite, configuration)
        let names = (0..<1_100).map { "a long enough name \($0)" }
        try await store.transaction { transaction in
            for name in names { transaction[name] = 1 }
        }
        let prefix = "tests/\(suite)/"
        let text =
            "\nput \"\(prefix)\" \"\\\"an older mark\\\"\"\nput \"\(prefix)volume\" 5\ndel \"\(prefix)\(names[0])\"\n\n\n"
        _ = try cluster.control(["txn"], input: text)
        let (all, _) = try transactions()
        #expect(all.map(\.new) == [["volume": 5], Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })])
        #expect(all.map(\.old) == [[names[0]: 1], [:]])
        #expect(all.first.map { [$0.author, $0.program, $0.reason] } == [nil, nil, nil])
    }

    @Test
    func changesWithoutAMarkAreNotTransactions() async throws {
        let store = try PreferenceStore.etcd(suite, configuration)
        try await store.write(5, for: "volume")
        _ = try cluster.control("put", "tests/\(suite)/volume", "9")
        _ = try cluster.control("put", "tests/\(suite)/broken", "25O")
        try await eventually("the change wasn't received") { store["volume"] == 9 }
        try await store.write(6, for: "volume")
        let (all, _) = try transactions()
        #expect(all.map(\.old) == [["volume": 9], [:]] && all.map(\.new) == [["volume": 6], ["volume": 5]])
    }

    @Test
    func historyEndsAtTheCompaction() async throws {
        let own = try EtcdCluster.start()
        let configuration = EtcdConfiguration.testing(own.endpoints)
        let store = try PreferenceStore.etcd(suite, configuration)
        for value in 1...4 { try await store.write(.integer(Int64(value)), for: "volume") }
        var history = try EtcdHistory(suite, configuration)
        let newest = try #require(try history.next())
        _ = try own.control("compact", "\(newest.revision - 1)")
        #expect(try history.next() == nil)
        #expect(history.isCompacted)
        history = try EtcdHistory(suite, configuration)
        #expect(try history.next() == newest)
        #expect(try history.next() == nil)
        #expect(history.isCompacted)
    }

    @Test
    func markIsReadAsItWasWritten() throws {
        let time = Date(timeIntervalSince1970: 1_796_000_000)
        let mark = WriteMark(["b", "a/é"], reason: "why", at: time)
        let description = try #require(WriteMark.description(in: mark.data))
        #expect(description.names == ["a/é", "b"] && description.reason == "why" && description.time == time)
        #expect(WriteMark(["a"], at: time) != WriteMark(["a"], at: time))
        let short = WriteMark([String(repeating: "a", count: WriteMark.longestNames)])
        let long = WriteMark([String(repeating: "a", count: WriteMark.longestNames + 1)])
        #expect(WriteMark.description(in: short.data)?.names?.count == 1)
        #expect(WriteMark.description(in: long.data)?.names == nil)
        #expect(WriteMark.description(in: Data(#""53C3E4D5""#.utf8)) == nil)
        #expect(WriteMark.description(in: nil) == nil)
    }
}
#endif
