#if Etcd
import EtcdTestSupport
import Foundation
import Preferences
import TestSupport
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
        try same(history.next(), nil)
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
        same(all.map(\.old), [["volume": 7], ["volume": 5], [:]])
        same(all.map(\.new), [[:], ["volume": 7, "theme": "dark"], ["volume": 5]])
        same(all.map(\.reason), ["the \"eu\" load", "the \"eu\" load", nil])
        #expect(all.map(\.revision) == all.map(\.revision).sorted(by: >) && !isCompacted)
        for transaction in all {
            #expect(try #require(transaction.author).hasSuffix("@\(WriteMark.hostName)"))
            same(transaction.program, ProcessInfo.processInfo.processName)
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
        same(all.map(\.new), [["volume": 5], Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })])
        same(all.map(\.old), [[names[0]: 1], [:]])
        same(all.first.map { [$0.author, $0.program, $0.reason] }, [nil, nil, nil])
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
        // Its mark is still there, without the values before it.
        let older = try #require(try history.next())
        #expect(older.isCompacted && older.author == newest.author && older.old == [:] && older.new == [:])
        try same(history.next(), nil)
        #expect(history.isCompacted)
        history = try EtcdHistory(suite, configuration)
        try same(history.next(), newest)
        try same(history.next(of: ["another"]), nil)
        #expect(!newest.isCompacted)
    }

    @Test
    func valueThatCannotBeDecodedIsNotAbsent() async throws {
        let store = try PreferenceStore.etcd(suite, configuration)
        let (first, second) = ("tests/\(suite)/first", "tests/\(suite)/second")
        _ = try cluster.control("put", first, "25O")
        _ = try cluster.control("put", second, "25O")
        try await store.write(250, for: "first")
        try await store.write(nil, for: "second")
        var history = try EtcdHistory(suite, configuration)
        let removal = try #require(try history.next())
        #expect(removal.unreadableOld == ["second"] && removal.unreadableNew == [])
        #expect(removal.old == [:] && removal.new == [:])
        let correction = try #require(try history.next())
        #expect(correction.unreadableOld == ["first"] && correction.old == [:] && correction.new == ["first": 250])
        try same(history.next(), nil)
        // The names' revisions show a later change that can't be decoded either.
        try same(history.revisions(of: ["first", "second"]), ["first": correction.revision])
        _ = try cluster.control("put", second, "26O")
        #expect(try #require(try history.revisions(of: ["second"])["second"]) > removal.revision)
    }

    /// More names than a transaction may read, whose list in the mark is short.
    @Test
    func manyShortNamesAreReadInSeveralTransactions() async throws {
        let store = try PreferenceStore.etcd(suite, configuration)
        let names = (0..<150).map { "n\($0)" }
        for value in 1...2 {
            try await store.transaction { transaction in
                for name in names { transaction[name] = .integer(Int64(value)) }
            }
        }
        var history = try EtcdHistory(suite, configuration)
        let newest = try #require(try history.next())
        same(newest.old, Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
        same(newest.new, Dictionary(uniqueKeysWithValues: names.map { ($0, 2) }))
        let revisions = try history.revisions(of: names)
        same(revisions, Dictionary(uniqueKeysWithValues: names.map { ($0, newest.revision) }))
    }

    @Test
    func transactionsOfOtherNamesArePassedOver() async throws {
        let store = try PreferenceStore.etcd(suite, configuration)
        try await store.write(1, for: "volume")
        try await store.write(1, for: "theme")
        try await store.transaction { transaction in
            transaction["theme"] = 2
            transaction["volume"] = 2
        }
        _ = try cluster.control(
            ["txn"],
            input: "\nput \"tests/\(suite)/\" \"\\\"an older mark\\\"\"\nput \"tests/\(suite)/theme\" 3\n\n\n"
        )
        try await eventually("the change wasn't received") { store["theme"] == 3 }
        try await store.write(4, for: "theme")
        var history = try EtcdHistory(suite, configuration)
        let newest = try #require(try history.next(of: ["volume", "v"]))
        #expect(newest.old == ["volume": 1] && newest.new == ["volume": 2])
        try same(history.next(of: ["volume", "v"])?.new, ["volume": 1])
        try same(history.next(of: ["volume", "v"]), nil)
    }

    @Test(arguments: [
        (["LOGNAME": "ada", "USER": "bea"], "ada@web-3"), (["LOGNAME": "", "USER": "bea"], "bea@web-3"),
        (["USER": ""], "uid \(geteuid())@web-3"), ([:], "uid \(geteuid())@web-3"),
    ])
    func authorIsTheUserOfTheEnvironment(_ environment: [String: String], _ author: String) throws {
        same(WriteMark.author(environment: environment, host: "web-3"), author)
        let host = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
        same("\(WriteMark.hostName)\n", host)
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
        same(WriteMark.description(in: short.data)?.names?.count, 1)
        same(WriteMark.description(in: long.data)?.names, nil)
        same(WriteMark.description(in: Data(#""53C3E4D5""#.utf8)), nil)
        same(WriteMark.description(in: nil), nil)
    }
}
#endif
