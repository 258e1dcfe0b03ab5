import Foundation
import Preferences
import Synchronization
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of the ranges of keys that a store of some scopes reads, without a server.
struct RangesTests {
    private static func keys(_ scopes: [String: [String]]) throws -> KeySpace {
        try KeySpace(prefix: "p", suite: "s", scopes: scopes)
    }

    private static func text(_ ranges: [KeyRange]) -> [String] {
        ranges.map { range in
            [range.start, range.end].map { key in
                String(
                    decoding: key.dropFirst(4).flatMap {
                        $0 == 0 ? Array("0".utf8) : $0 == 255 ? Array("end".utf8) : [$0]
                    },
                    as: UTF8.self
                )
            }.joined(separator: " ")
        }
    }

    @Test(
        arguments: [
            ([:], ["0 end"]),
            (["host": []], ["0 host.", "host/ end"]),
            (["host": ["b", "a", "b"]], ["0 host.", "host.a. host.a/", "host.b. host.b/", "host/ end"]),
            (["host": ["a.b%"]], ["0 host.", "host.a%2Eb%25. host.a%2Eb%25/", "host/ end"]),
            (
                ["host": ["a"], "group": ["eu"]],
                ["0 group.", "group.eu. group.eu/", "group/ host.", "host.a. host.a/", "host/ end"]
            ),
            // A scope of a listed scope, and one whose ids are not read.
            (["a": ["b"], "a.b": ["c"]], ["0 a.", "a.b.c. a.b.c/", "a/ end"]),
            (["a": ["x"], "a.b": ["c"]], ["0 a.", "a.x. a.x/", "a/ end"]),
        ] as [([String: [String]], [String])]
    )
    func rangesAreOrderedAndHaveNoCommonKeys(_ scopes: [String: [String]], _ expected: [String]) throws {
        let keys = try Self.keys(scopes)
        same(Self.text(keys.ranges), expected)
        same(keys.isPartial, !scopes.isEmpty)
        same(keys.ranges.first?.start, keys.names.start)
    }

    @Test
    func nameIsReadUnlessItsScopeIsListedWithoutItsID() throws {
        let keys = try Self.keys(["host": ["a"]])
        for name in ["x", "host", "host.a.x", "hosts.b.x", "preferences.migrations", "z"] {
            #expect(keys.contains(name))
        }
        for name in ["host.b.x", "host.ab.x", "host.", "host.a"] { #expect(!keys.contains(name)) }
    }

    @Test
    func prefixIsCutDownToWhatIsRead() throws {
        let keys = try Self.keys(["host": ["a", "b"]])
        same(Self.text(keys.ranges(of: "host.a.")), ["host.a. host.a/"])
        same(Self.text(keys.ranges(of: "host.")), ["host.a. host.a/", "host.b. host.b/"])
        #expect(keys.ranges(of: "host.c.").isEmpty)
        same(keys.ranges(of: ""), keys.ranges)
    }

    // MARK: Reading

    @Test
    func eachRangeIsReadAtTheRevisionOfTheFirst() throws {
        let keys = try Self.keys(["host": ["a"]])
        var read = SuiteRead(keys, known: 0)
        let mark = KeyValue(key: keys.mark, value: Data("m".utf8), modRevision: 9)
        #expect(read.request.key == keys.mark && read.request.rangeEnd == keys.ranges[0].end)
        let isFirstPage = read.add(RangeResponse(header: ResponseHeader(revision: 9), kvs: [mark, put(keys, "b", 3)]))
        #expect(isFirstPage)
        #expect(read.request.key == keys.ranges[1].start && read.request.rangeEnd == keys.ranges[1].end)
        same(read.request.revision, 9)
        let isNextRange = read.add(RangeResponse(kvs: [put(keys, "host.a.x", 4)], more: true))
        #expect(isNextRange)
        #expect(read.request.key == keys.key(of: "host.a.x") + [0] && read.request.rangeEnd == keys.ranges[1].end)
        let isNextPage = read.add(RangeResponse(kvs: [put(keys, "host.a.y", 4)]))
        #expect(isNextPage)
        #expect(read.request.key == keys.ranges[2].start && read.request.rangeEnd == keys.names.end)
        let isLastRange = read.add(RangeResponse())
        #expect(isLastRange)
        // The pages are of the same history if the mark is the same at their revision.
        #expect(read.request.key == keys.mark && read.request.rangeEnd == nil)
        let isSameMark = read.add(RangeResponse(kvs: [mark]))
        #expect(isSameMark)
        #expect(read.isComplete)
        same(read.keyValues.compactMap { keys.name(of: $0.key) }, ["b", "host.a.x", "host.a.y"])
    }

    private func put(_ keys: KeySpace, _ name: String, _ revision: Int64) -> KeyValue {
        KeyValue(key: keys.key(of: name), value: Data("\(revision)".utf8), modRevision: GatewayInteger(revision))
    }

    // MARK: The mirror

    private func mirror() throws -> Mirror {
        let keys = try Self.keys(["host": ["a"]])
        var mirror = Mirror(keys)
        _ = mirror.replace(with: [put(keys, "x", 3), put(keys, "host.a.x", 4)], at: 10)
        return mirror
    }

    @Test
    func changesOfSeveralRangesAreAppliedInOneStep() throws {
        var mirror = try self.mirror()
        let keys = mirror.keys
        let passed = Passed()
        mirror.pass = { passed.add($0.mapValues { $0 == nil ? "removed" : "set" }, $1) }
        let delta = RangeResponse(kvs: [put(keys, "host.a.y", 12)], count: 2)
        let event = WatchEvent(kv: put(keys, "x", 12))
        let isApplied = mirror.apply([event], of: keys.ranges[2], with: delta, at: 12)
        #expect(isApplied)
        same(mirror.values, ["x": 12, "host.a.x": 4, "host.a.y": 12])
        same(passed.all, ["12: host.a.y set, x set"])
        // The events of the other range are late.
        mirror.apply([WatchEvent(kv: put(keys, "host.a.y", 12))])
        same(passed.all.count, 1)
    }

    @Test
    func removalsFromOtherRangesNeedTheirNames() throws {
        var mirror = try self.mirror()
        let keys = mirror.keys
        let event = WatchEvent(kv: put(keys, "x", 12))
        let delta = RangeResponse(kvs: [], count: 0)
        let isApplied = mirror.apply([event], of: keys.ranges[2], with: delta, at: 12)
        #expect(!isApplied)
        #expect(mirror.revision == 10 && mirror.values["x"] == 3)
        let isAppliedWithNames = mirror.apply([event], of: keys.ranges[2], with: delta, keeping: [], at: 12)
        #expect(isAppliedWithNames)
        same(mirror.values, ["x": 12])
    }

    @Test
    func laterWriteOfTheStoreLeavesTheNumberOfNamesOpen() throws {
        var mirror = try self.mirror()
        let keys = mirror.keys
        _ = mirror.replace(with: [put(keys, "host.a.w", 4), put(keys, "host.a.x", 4)], at: 10)
        // A removal by this store at 13 and one by another process at 11 leave the number of the names at 12.
        mirror.commit(["host.a.x": nil], at: 13)
        let event = WatchEvent(kv: put(keys, "x", 12))
        let delta = RangeResponse(kvs: [], count: 1)
        let isApplied = mirror.apply([event], of: keys.ranges[2], with: delta, at: 12)
        #expect(!isApplied)
        _ = mirror.apply([event], of: keys.ranges[2], with: delta, keeping: [keys.key(of: "host.a.x")], at: 12)
        same(mirror.values, ["x": 12])
    }

    @Test
    func markOfOtherScopesDoesNotShowAMissedChange() throws {
        var mirror = try self.mirror()
        let keys = mirror.keys
        #expect(mirror.isBehind(mark: 15, count: nil, at: 15))
        let isBehindForOthers = mirror.isBehind(RangeResponse(kvs: [], count: 2), at: 15)
        #expect(!isBehindForOthers)
        same(mirror.revision, 15)
        let isBehindForAPut = mirror.isBehind(RangeResponse(kvs: [put(keys, "x", 16)], count: 2), at: 17)
        #expect(isBehindForAPut)
        let isBehindForARemoval = mirror.isBehind(RangeResponse(kvs: [], count: 1), at: 17)
        #expect(isBehindForARemoval)
        same(mirror.revision, 15)
    }

    private final class Passed: Sendable {
        private let steps = Mutex<[String]>([])

        func add(_ changes: [String: String], _ revision: Int64?) {
            let text = changes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            steps.withLock { $0.append("\(revision ?? 0): \(text)") }
        }

        var all: [String] { steps.withLock { $0 } }
    }

    // MARK: The watches of a stream

    private static func watching() -> WatchStateMachine {
        var machine = WatchStateMachine(rangeCount: 2, attemptTimeout: .seconds(2), probeInterval: .seconds(10))
        _ = machine.handle(.begin(after: 10))
        _ = machine.handle(.response(WatchResponse(watch: 1, created: true)))
        return machine
    }

    private static let event = WatchEvent(kv: KeyValue(key: Data("k".utf8), value: Data("1".utf8), modRevision: 12))

    @Test
    func eventOfOneRangeIsAppliedWithTheOthersOnce() {
        var machine = Self.watching()
        let response = WatchResponse(watch: 1, events: [Self.event])
        same(machine.handle(.response(response)), [.complete([Self.event], range: 1)])
        same(machine.handle(.completed(.success(12))), [])
        // The other range's part of the same revision came with the read.
        same(machine.handle(.response(WatchResponse(events: [Self.event]))), [])
        same(machine.nextRevision, 13)
    }

    @Test
    func failedReadOfTheOtherRangesReopensTheStreamAtTheSameRevision() {
        var machine = Self.watching()
        _ = machine.handle(.response(WatchResponse(events: [Self.event])))
        let lost = GatewayFailure.unreachable("lost")
        same(machine.handle(.completed(.failure(lost))), [.close, .becameDisconnected(lost), .leaveEndpoint])
        same(machine.handle(.silence(since: .zero)), [.open(from: 11)])
    }

    @Test
    func compactedRevisionOfTheOtherRangesHasTheSuiteRead() {
        var machine = Self.watching()
        _ = machine.handle(.response(WatchResponse(events: [Self.event])))
        let compacted = GatewayFailure.refused(code: 11, message: "compacted")
        same(machine.handle(.completed(.failure(compacted))), [.close, .reread])
    }

    @Test
    func progressCountsWhenAllWatchesHaveReportedIt() {
        var machine = Self.watching()
        same(machine.handle(.response(WatchResponse(header: ResponseHeader(revision: 20)))), [])
        same(machine.nextRevision, 11)
        let second = WatchResponse(header: ResponseHeader(revision: 18), watch: 1)
        same(machine.handle(.response(second)), [.advance(to: 18)])
        same(machine.nextRevision, 19)
    }
}
