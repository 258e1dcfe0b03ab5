import Foundation
import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

/// Tests of how the mirror applies answers and events, and of the transactions that are built from it.
struct MirrorTests {
    private let keys: KeySpace
    private var mirror: Mirror

    init() throws {
        keys = try KeySpace(prefix: "p", suite: "s")
        mirror = Mirror(keys)
        _ = mirror.replace(with: [put("a", "1", 3), put("b", "2", 5)], at: 10)
        mirror.collect()
    }

    /// Removes and returns the changes that the mirror has collected, each revision's in one.
    private mutating func takeSteps() -> [[String: PropertyListValue?]] {
        guard case .changes(let steps) = mirror.drainChanges() else { return [] }
        return steps.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.name, $0.value) }) }
    }

    /// Removes and returns the changes that the mirror has collected, merged.
    private mutating func take() -> [String: PropertyListValue?] {
        takeSteps().reduce(into: [:]) { $0.merge($1) { $1 } }
    }

    /// A later start can continue only from values that are complete.
    @Test
    mutating func valuesThatTheCacheLacksHaveNoPosition() {
        same(mirror.position?.revision, 10)
        _ = mirror.replace(with: [put("a", "1O", 11), put("b", "2", 5)], at: 11)
        same(mirror.values, ["a": 1, "b": 2])
        same(mirror.position, nil)
        _ = mirror.replace(with: [put("a", "1", 12), put("b", "2", 5)], at: 12)
        same(mirror.position?.revision, 12)
        _ = mirror.replace(with: [put("a", "1O", 13), put("b", "2", 5)], at: 13)
        mirror.commit(["a": 3], at: 14)
        same(mirror.position?.revision, 13)
        _ = mirror.replace(with: [put("a", "3", 14), put("preferences.etcd", "2", 15)], at: 15)
        same(mirror.position, nil)
        _ = mirror.replace(with: [put("b", "2O", 16)], at: 16)
        _ = mirror.replace(with: [], at: 17)
        same(mirror.position?.revision, 17)
    }

    private func put(_ name: String, _ text: String, _ revision: Int64) -> KeyValue {
        KeyValue(key: keys.key(of: name), value: Data(text.utf8), modRevision: GatewayInteger(revision))
    }

    private func removal(_ name: String, _ revision: Int64) -> WatchEvent {
        WatchEvent(
            type: "DELETE",
            kv: KeyValue(key: keys.key(of: name), modRevision: GatewayInteger(revision))
        )
    }

    private func event(_ name: String, _ text: String, _ revision: Int64) -> WatchEvent {
        WatchEvent(kv: put(name, text, revision))
    }

    @Test
    mutating func eventsAreAppliedByRevision() {
        let events = [event("a", "2", 11), event("c", "3", 11), removal("b", 12)]
        let batches = events.revisions.map { revision in
            mirror.apply(revision)
            return take()
        }
        same(batches, [["a": 2, "c": 3], ["b": nil]])
        same(mirror.values, ["a": 2, "c": 3])
    }

    @Test
    mutating func knownEventsChangeNothing() {
        for revision in [event("a", "0", 9), removal("b", 10)].revisions { mirror.apply(revision) }
        same(mirror.values, ["a": 1, "b": 2])
        same(take(), [:])
    }

    @Test
    mutating func restoredClusterReplacesTheMirror() {
        mirror.commit(["a": 7], at: 20)
        let isReplaced = mirror.replace(with: [put("a", "1", 3), put("c", "3", 4)], at: 8)
        #expect(!isReplaced, "an older answer is out of date")
        mirror.forgetRevisions()
        let isRestored = mirror.replace(with: [put("a", "1", 3), put("c", "3", 4)], at: 8)
        #expect(isRestored)
        same(mirror.values, ["a": 1, "c": 3])
        same(mirror.newest, 8)
        same(take(), ["a": 1, "b": nil, "c": 3])
    }

    /// The answer to a write of this store that was sent before the history ended.
    @Test
    mutating func writeOfALostHistoryIsShownUntilTheNextRead() {
        mirror.forgetRevisions()
        mirror.commit(["a": 7, "b": nil], at: nil)
        same(mirror.values, ["a": 7])
        same(mirror.newest, 0, "a revision of the lost history says nothing about the new one")
        let isRead = mirror.replace(with: [put("a", "1", 3), put("b", "2", 4)], at: 8)
        #expect(isRead && mirror.values == ["a": 1, "b": 2])
        same(take(), ["a": 1, "b": 2])
    }

    @Test
    mutating func readOfAllReplacesValuesWithNewerRevisionsOfALostHistory() {
        mirror.apply([event("a", "7", 12)])
        // A restored cluster that has got further: "a" is that of the snapshot.
        let isReplaced = mirror.replace(with: [put("a", "1", 3), put("c", "3", 90)], at: 100)
        #expect(isReplaced && mirror.values == ["a": 1, "c": 3])
        same(take(), ["a": 1, "b": nil, "c": 3])
    }

    @Test
    mutating func historyIsRecognizedByTheMark() {
        func mark(_ text: String, _ revision: Int64) -> KeyValue {
            KeyValue(key: keys.mark, value: Data(text.utf8), modRevision: GatewayInteger(revision))
        }
        same(mirror.place.history(of: mark("x", 4), at: 10), .same, "no mark is known yet")
        same(mirror.place.history(of: nil, at: 9), .other, "an answer is never older")
        mirror.note(mark: mark("x", 4), at: 12)
        mirror.note(mark: mark("w", 2), at: 11)
        same(mirror.place.history(of: mark("x", 4), at: 20), .same)
        same(mirror.place.history(of: mark("y", 15), at: 20), .sameIfMarked(at: 12))
        same(mirror.place.history(of: mark("y", 4), at: 20), .other, "the same revision, another write")
        same(mirror.place.history(of: mark("v", 3), at: 20), .other, "a mark is never replaced by an older one")
        same(mirror.place.history(of: nil, at: 20), .other, "nor removed")
        same(mirror.place.history(of: mark("x", 4), at: 11), .other)
        mirror.forgetRevisions()
        same(mirror.place.history(of: nil, at: 1), .same)
    }

    @Test
    mutating func countShowsRemovalsThatADeltaOmits() {
        let isComplete = mirror.merge(RangeResponse(kvs: [put("c", "3", 12)], count: 3), at: 12)
        #expect(isComplete)
        let delta = RangeResponse(kvs: [put("d", "4", 13)], count: 3)
        let isStillComplete = mirror.merge(delta, at: 13)
        #expect(!isStillComplete && mirror.revision == 12, "the watch has not delivered it yet")
        mirror.merge(delta, keeping: Set(["a", "c", "d"].map(keys.key(of:))), at: 13)
        #expect(mirror.values == ["a": 1, "c": 3, "d": 4] && mirror.revision == 13)
        same(take(), ["b": nil, "c": 3, "d": 4])
    }

    @Test
    mutating func readOfAllReplacesOlderValuesAndKeepsNewerOwnWrites() {
        mirror.commit(["c": 3, "a": nil], at: 14)
        let isReplaced = mirror.replace(with: [put("a", "1", 3), put("d", "4", 12)], at: 13)
        #expect(isReplaced && mirror.values == ["c": 3, "d": 4])
        same(take(), ["b": nil, "d": 4])
        let isReplacedByOlder = mirror.replace(with: [], at: 12)
        #expect(!isReplacedByOlder && mirror.values == ["c": 3, "d": 4])
        let isReplacedByNewer = mirror.replace(with: [put("a", "5", 15)], at: 16)
        #expect(isReplacedByNewer && mirror.values == ["a": 5])
    }

    // MARK: Own writes ahead of the watch

    /// The watch delivers the older event after etcd has acknowledged the store's own write of the name.
    @Test
    mutating func eventThatIsOlderThanAnOwnWriteIsIgnored() {
        mirror.commit(["a": 7], at: 14)
        #expect(mirror.revision == 10 && mirror.newest == 14)
        mirror.apply([event("a", "6", 12), event("c", "3", 12)])
        #expect(mirror.values == ["a": 7, "b": 2, "c": 3] && mirror.revision == 12)
        same(take(), ["c": 3])
        same(mirror.entries[keys.key(of: "a")]?.modRevision, 14)
    }

    @Test
    mutating func eventThatIsOlderThanAnOwnRemovalRestoresNothing() {
        mirror.commit(["a": nil], at: 14)
        mirror.apply([event("a", "6", 12)])
        let isMerged = mirror.merge(RangeResponse(kvs: [put("a", "6", 13)], count: 1), at: 13)
        #expect(isMerged && mirror.values == ["b": 2])
        same(take(), [:])
        mirror.apply([removal("a", 14)])
        mirror.apply([event("a", "8", 15)])
        same(mirror.values, ["a": 8, "b": 2])
    }

    @Test
    mutating func nameThatTheStorePutsAgainHasTheRevisionOfThePut() {
        mirror.commit(["a": nil], at: 12)
        mirror.commit(["a": 9], at: 14)
        for revision in [removal("a", 12), event("a", "9", 14)].revisions { mirror.apply(revision) }
        #expect(mirror.values == ["a": 9, "b": 2] && mirror.revision == 14)
        same(take(), [:])
    }

    @Test
    mutating func removalThatIsOlderThanAnOwnPutIsIgnored() {
        mirror.commit(["b": 7], at: 14)
        mirror.apply([removal("b", 12)])
        mirror.merge(RangeResponse(kvs: [], count: 1), keeping: [keys.key(of: "a")], at: 13)
        same(mirror.values, ["a": 1, "b": 7])
    }

    @Test
    mutating func changesThatCouldNotBeCopiedAreRestoredUnlessThereAreNewerOnes() {
        mirror.apply([event("a", "5", 11), event("b", "6", 11)])
        let uncopied = mirror.drainUncopied(isFirst: false)
        mirror.apply([event("a", "7", 12)])
        mirror.restoreUncopied(uncopied)
        same(mirror.drainUncopied(isFirst: false), ["a": 7, "b": 6])
    }

    @Test
    mutating func valueThatIsNotUTF8IsReportedAndNotRepaired() {
        mirror.apply([
            WatchEvent(kv: KeyValue(key: keys.key(of: "a"), value: Data([0x22, 0xE9, 0x22]), modRevision: 11))
        ])
        same(mirror.values, ["a": 1, "b": 2])
        same(mirror.drainProblems().map(\.code), [.damaged])
    }

    /// etcd subtracts the operations or comparisons of a transaction from the limit of those nested in it.
    @Test(arguments: [126, 127, 128, 200])
    func noTransactionExceedsTheServersLimit(count: Int) throws {
        let changes: [String: PropertyListValue?] = Dictionary(
            uniqueKeysWithValues: (0..<count).map { ("name\($0)", PropertyListValue?.none) }
        )
        let request = try TransactionBuilder(
            changes,
            among: Set(changes.keys),
            on: mirror,
            mark: WriteMark([]),
            limit: 128
        ).request(isRepeated: true)
        let outer = max(request.compare.count, request.success.count)
        #expect(outer <= 128)
        for case .transaction(let inner) in request.success { #expect(inner.success.count <= 128 - outer) }
    }

    @Test
    mutating func changesOfEachRevisionArePassedOnByThemselves() {
        for event in [event("a", "5", 11), event("b", "7", 12), event("a", "6", 13)] { mirror.apply([event]) }
        mirror.commit(["b": 7], at: 12)
        same(takeSteps(), [["a": 5], ["b": 7], ["a": 6]])
        same(mirror.values, ["a": 6, "b": 7])
    }

    @Test
    mutating func commitAheadOfTheWatchIsAppliedOnce() {
        mirror.commit(["b": 7, "a": nil], at: 12)
        same(mirror.values, ["b": 7])
        mirror.apply([event("b", "7", 12), removal("a", 12)])
        same(take(), [:])
        same(mirror.entries[keys.key(of: "b")]?.modRevision, 12)
    }

    @Test
    mutating func unreadableValueIsReportedAndTheOneBeforeIsKept() {
        mirror.apply([event("a", "{broken", 11), event("new", "{broken", 11)])
        mirror.apply([WatchEvent(kv: KeyValue(key: keys.start + [0xFE], modRevision: 12))])
        #expect(mirror.values == ["a": 1, "b": 2])
        same(take(), [:])
        let problems = mirror.drainProblems() + mirror.drainProblems()
        same(problems.map(\.code), [.damaged, .damaged, .damaged])
        same(problems.map { $0.message.contains("continue with the value before") }, [true, true, false])
        mirror.apply([removal("a", 13)])
        #expect(mirror.values == ["b": 2])
        same(take(), ["a": nil])
    }

    @Test
    mutating func anyWriteReplacesOrRemovesAnUnreadableValue() {
        #expect(mirror.missing(["a": 1, "new": nil]).isEmpty)
        mirror.apply([event("a", "{broken", 11), event("new", "{broken", 11)])
        same(mirror.missing(["a": 1, "b": 2, "new": nil]), ["a": 1, "new": nil])
        mirror.commit(["a": 1, "new": nil], at: 12)
        #expect(mirror.missing(["a": 1, "b": 2, "new": nil]).isEmpty)
    }

    /// Otherwise a start from the cache would take the value before for the stored one.
    @Test
    mutating func positionIsUnknownWhileAValueCannotBeDecoded() {
        same(mirror.position?.revision, 10)
        mirror.apply([event("a", "{broken", 11)])
        same(mirror.position, nil)
        mirror.apply([event("a", "3", 12)])
        same(mirror.position?.revision, 12)
        mirror.apply([event("a", "{broken", 13)])
        mirror.apply([removal("a", 14)])
        same(mirror.position?.revision, 14)
        mirror.apply([event("a", "{broken", 15)])
        mirror.commit(["a": 1], at: 16)
        same(mirror.position?.revision, 15)
    }

    @Test
    mutating func memberIsAheadByItsMarkOrItsCount() {
        #expect(!mirror.isBehind(mark: 10, count: 2, at: 10))
        #expect(mirror.isBehind(mark: 11, count: 2, at: 11))
        #expect(mirror.isBehind(mark: 5, count: 3, at: 12))
        #expect(!mirror.isBehind(mark: 5, count: nil, at: 12))
        mirror.commit(["c": 3], at: 14)
        #expect(
            !mirror.isBehind(mark: 13, count: 2, at: 13),
            "an answer from before the store's last write shows nothing"
        )
        #expect(!mirror.isBehind(mark: 14, count: 3, at: 14))
    }

    @Test
    func markFenceAndGuardsAreOutsideTheRangeOfNames() {
        let (start, end) = (keys.names.start, keys.names.end)
        #expect(keys.mark.lexicographicallyPrecedes(start))
        #expect(!keys.fence.lexicographicallyPrecedes(end) && keys.fence.lexicographicallyPrecedes(keys.end))
        let guards = keys.removalGuards
        for name in ["\0", "a", "\u{10FFFF}"] {
            let removal = keys.removalGuard(of: keys.key(of: name))
            #expect(!removal.lexicographicallyPrecedes(guards.start) && removal.lexicographicallyPrecedes(guards.end))
            let key = keys.key(of: name)
            #expect(!key.lexicographicallyPrecedes(start) && key.lexicographicallyPrecedes(end))
        }
    }

    // MARK: Transactions

    private func builder(
        _ changes: [String: PropertyListValue?],
        reading names: Set<String>? = [],
        mark: WriteMark = WriteMark([]),
        limit: Int = 128
    ) throws -> TransactionBuilder {
        try TransactionBuilder(changes, among: names?.union(changes.keys), on: mirror, mark: mark, limit: limit)
    }

    @Test
    func eachNameOfAWriteIsComparedAndForAnAbsentOneAlsoItsGuard() throws {
        let known = [
            Comparison(key: keys.key(of: "a"), modRevision: 3), Comparison(key: keys.key(of: "b"), modRevision: 5),
        ]
        let request = try builder(["a": 4], reading: ["b"]).request(isRepeated: false)
        same(Set(request.compare), Set(known))
        let adding = try builder(["a": 4, "new": 1], reading: ["b"]).request(isRepeated: false)
        let absent = [
            Comparison(key: keys.key(of: "new"), modRevision: 0),
            Comparison(key: keys.removalGuard(of: keys.key(of: "new")), result: .less, modRevision: 11),
        ]
        same(Set(adding.compare), Set(known + absent))
    }

    /// The store's own last write may be a removal, and a range may have external changes from before it.
    @Test
    mutating func guardsAreComparedWithTheLastOwnWriteAndARangeWithTheMirrorsRevision() throws {
        mirror.commit(["a": 4], at: 14)
        let request = try builder(["new": 1], reading: nil).request(isRepeated: false)
        let (start, end) = (keys.names.start, keys.names.end)
        let guards = keys.removalGuards
        #expect(
            request.compare.contains(
                Comparison(key: guards.start, rangeEnd: guards.end, result: .less, modRevision: 15)
            )
        )
        #expect(request.compare.contains(Comparison(key: start, rangeEnd: end, result: .less, modRevision: 11)))
        #expect(request.compare.contains(Comparison(key: keys.key(of: "a"), modRevision: 14)))
    }

    @Test
    func writeThatHasReadAllComparesAllKeysAndTheRange() throws {
        let request = try builder(["new": 1], reading: nil).request(isRepeated: false)
        let (start, end) = (keys.names.start, keys.names.end)
        #expect(request.compare.contains(Comparison(key: start, rangeEnd: end, result: .less, modRevision: 11)))
        #expect(request.compare.contains(Comparison(key: keys.key(of: "a"), modRevision: 3)))
    }

    /// Otherwise a delayed copy could be stored after another name was put, so that what was read was wrong, and removed.
    @Test
    func writeThatHasReadAllComparesAllGuardsAlsoWithoutAnAbsentName() throws {
        let request = try builder(["a": 4], reading: nil).request(isRepeated: false)
        let (start, end) = (keys.removalGuards.start, keys.removalGuards.end)
        #expect(request.compare.contains(Comparison(key: start, rangeEnd: end, result: .less, modRevision: 11)))
    }

    @Test
    func firstSetsOfOtherNamesKeepTheComparisonsOfAnAbsentNameTrue() throws {
        let first = try builder(["new": 1]).request(isRepeated: false)
        let second = try builder(["another": 1]).request(isRepeated: false)
        let compared = Set(first.compare.map(\.key))
        let put = second.success.compactMap { operation in
            if case .put(let request) = operation { request.key } else { nil }
        }
        #expect(first.compare.allSatisfy { $0.rangeEnd == nil } && compared.isDisjoint(with: put))
    }

    @Test
    func removalPutsTheGuardOfItsNameOnceUnlessThereIsNoSpace() throws {
        let name = try #require(
            (0...).lazy.map(String.init).first { name in
                keys.removalGuard(of: keys.key(of: name)) == keys.removalGuard(of: keys.key(of: "a"))
            }
        )
        let builder = try builder(["a": nil, name: nil])
        func put(_ request: TransactionRequest) -> [Data] {
            request.success.compactMap { operation in
                if case .put(let request) = operation { request.key } else { nil }
            }
        }
        same(put(builder.request(isRepeated: false)), [keys.removalGuard(of: keys.key(of: "a")), keys.mark])
        #expect(put(try #require(builder.unmarked).request(isRepeated: false)).isEmpty)
    }

    @Test
    func guardsThatExceedTheLimitAreComparedAsOneRange() throws {
        let names = Dictionary(uniqueKeysWithValues: (0..<100).map { ("n\($0)", PropertyListValue?.some(1)) })
        let request = try builder(names).request(isRepeated: false)
        let (start, end) = (keys.removalGuards.start, keys.removalGuards.end)
        same(request.compare.count, 101)
        #expect(request.compare.contains(Comparison(key: start, rangeEnd: end, result: .less, modRevision: 11)))
    }

    /// The guards must be the same for all programs, of whatever version.
    @Test
    func guardOfANameIsTheOneOfTheDocumentedHash() {
        same(keys.removalGuard(of: keys.key(of: "a")), keys.fence + [237])
        same(keys.removalGuard(of: keys.key(of: "rateLimit")), keys.fence + [69])
    }

    @Test
    func pausesAfterConflictsGrowToALimit() {
        let pauses = [0, 1, 2, 3, 4, 14, 100].map { RetryPause.pause(afterConflicts: $0, random: 0.5) }
        same(pauses, [0, 0, 500, 0, 1_000, 32_000, 32_000].map { .microseconds($0) })
    }

    @Test
    func successReadsNothing() throws {
        let request = try builder(["a": 4, "b": nil]).request(isRepeated: true)
        #expect(
            request.success.allSatisfy { operation in
                if case .range = operation { return false }
                return true
            }
        )
    }

    @Test
    func onlyARepeatedRequestPutsAFence() throws {
        let builder = try builder(["a": 4])
        same(builder.request(isRepeated: false).failure.count, 1)
        same(builder.request(isRepeated: true).failure.count, 2)
    }

    @Test
    func manyWritesArePackedAndTooManyAreRejected() throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<3000).map { ("n\($0)", PropertyListValue?.some(1)) })
        let request = try builder(many).request(isRepeated: false)
        same(request.compare.count, 2)
        #expect(request.success.count < 128)
        let tooMany = Dictionary(uniqueKeysWithValues: (0..<5000).map { ("n\($0)", PropertyListValue?.some(1)) })
        let error = #expect(throws: PreferenceError.self) { try builder(tooMany) }
        same(error?.code, .tooLarge)
    }

    @Test
    func writeIsFoundInTheHistoryByItsMarkAndNotItsValue() throws {
        let mark = WriteMark([])
        let builder = try builder(["a": 4], reading: ["a"], mark: mark)
        let another = [
            event("a", "4", 11), WatchEvent(kv: KeyValue(key: keys.mark, value: WriteMark([]).data, modRevision: 11)),
        ]
        let own = [event("a", "4", 12), WatchEvent(kv: KeyValue(key: keys.mark, value: mark.data, modRevision: 12))]
        same(History.revision(of: builder, in: another), nil)
        same(History.revision(of: builder, in: another + own), 12)
    }
}
