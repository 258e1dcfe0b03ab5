internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A builder of an etcd transaction that stores changes if none of the keys involved was modified since it was read.
///
/// Each key that is written is compared too, and the guard of its removals if it is absent: so a request that arrives late, or twice,
/// can't be stored after a newer write or removal. Without changes it only checks whether the keys are unmodified.
struct TransactionBuilder: Sendable {
    let keys: KeySpace
    /// The revision that the write is based on: if it is stored, then at a later one.
    let base: Int64
    /// The changes to store, without those to values that are stored already.
    let changes: [String: PropertyListValue?]
    /// The mark that identifies this write; `nil` if it puts none.
    private(set) var mark: WriteMark?
    /// The revision up to which the mirror was complete.
    let revision: Int64
    /// The number of the cluster's histories that had ended.
    let histories: Int
    private let comparisons: [Comparison]
    /// Whether it is stored only if the mirror has each name as it is in etcd, so that the mirror is complete then.
    let comparesAll: Bool
    /// Whether it puts a name that was absent, which is absent again after it was stored and the name removed.
    private let putsAbsentName: Bool
    private var writes: [Operation]
    /// The writes without the guards of the removed names.
    private let unguardedWrites: [Operation]

    /// Creates a transaction.
    ///
    /// - Parameters:
    ///   - changes: The changes to store.
    ///   - names: The names on which the changes depend, and those that keep their values; each must be unmodified. All names if nil.
    ///   - mirror: The values and revisions to compare with.
    ///   - mark: The mark to put, or `nil` to put none.
    ///   - limit: The servers' `--max-txn-ops`.
    /// - Throws: If a value can't be encoded, or there are too many changes for the limit.
    init(
        _ changes: [String: PropertyListValue?],
        among names: Set<String>?,
        on mirror: Mirror,
        mark: WriteMark?,
        limit: Int
    ) throws(PreferenceError) {
        keys = mirror.keys
        base = mirror.newest
        revision = mirror.revision
        histories = mirror.histories
        self.changes = changes
        self.mark = mark
        putsAbsentName = changes.contains { [keys] in $0.value != nil && mirror.entries[keys.key(of: $0.key)] == nil }
        var writes: [Operation] = []
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            let key = keys.key(of: name)
            if let value {
                let text = try value.json()
                writes.append(.put(PutRequest(key: key, value: Data(text.utf8))))
            } else {
                writes.append(.delete(DeleteRequest(key: key)))
            }
        }
        unguardedWrites = try Self.packed(writes, of: changes.count, limit: limit)
        let removed = changes.filter { $0.value == nil }.keys
        // A transaction must not put a key twice.
        for guardKey in Set(removed.map { [keys] in keys.removalGuard(of: keys.key(of: $0)) }) {
            writes.append(.put(PutRequest(key: guardKey, value: WriteMark.removal)))
        }
        self.writes = try Self.packed(writes, of: changes.count, limit: limit)
        // For a nested transaction, etcd subtracts the outer one's comparisons from the limit.
        let isPacked = writes.count >= limit
        let comparisonLimit = isPacked ? limit / 2 : limit
        comparisons = Self.comparisons(names, mirror, isWrite: !changes.isEmpty, limit: comparisonLimit)
        comparesAll = names == nil && comparisons.last?.rangeEnd != nil
    }

    /// Returns the request; a repeated one puts the fence if its comparisons fail, so that the history to search has an end.
    ///
    /// If it puts an absent name, a repeated one changes nothing and always puts the fence: if `etcdctl` has removed the name since, the
    /// comparisons hold again. If the history doesn't include the write, it is planned again.
    func request(isRepeated: Bool) -> TransactionRequest {
        let delta = [Operation.range(.delta(of: keys.names, since: revision))]
        guard let mark else { return TransactionRequest(compare: comparisons, success: writes, failure: delta) }
        let fence = Operation.put(PutRequest(key: keys.fence, value: WriteMark.fence))
        if isRepeated, putsAbsentName {
            // No revision is less than zero.
            let never = Comparison(key: keys.mark, result: .less, modRevision: 0)
            return TransactionRequest(compare: [never], success: [], failure: delta + [fence])
        }
        return TransactionRequest(
            compare: comparisons,
            success: writes + [.put(PutRequest(key: keys.mark, value: mark.data))],
            failure: isRepeated ? delta + [fence] : delta
        )
    }

    /// The same transaction without the mark and guards, as a cluster without space rejects any put; `nil` if it puts values or has no mark.
    var unmarked: TransactionBuilder? {
        guard mark != nil, changes.values.allSatisfy({ $0 == nil }) else { return nil }
        var builder = self
        builder.mark = nil
        builder.writes = unguardedWrites
        return builder
    }

    /// Returns whether a key that it removes is still there unmodified.
    func isUntouched(in mirror: Mirror) -> Bool {
        changes.keys.contains { name in
            let key = keys.key(of: name)
            guard let entry = mirror.entries[key], entry.modRevision > 0 else { return false }
            return Self.comparisons(of: key, entry).allSatisfy(comparisons.contains)
        }
    }

    /// The mark that it has put if it is stored at a revision; `nil` if it puts none.
    func markKeyValue(at revision: Int64) -> KeyValue? {
        mark.map { KeyValue(key: keys.mark, value: $0.data, modRevision: GatewayInteger(revision)) }
    }

    /// Returns whether two requests are stored in the same states of the cluster.
    func comparesSame(as other: TransactionBuilder) -> Bool { Set(comparisons) == Set(other.comparisons) }

    /// Returns whether the events of a revision include the mark of this write.
    func isMade(by events: some Collection<WatchEvent>) -> Bool {
        events.contains { isMade(by: $0.kv) }
    }

    /// Returns whether a key and value are the mark of this write.
    func isMade(by keyValue: KeyValue) -> Bool {
        keyValue.key == keys.mark && mark != nil && keyValue.value == mark?.data
    }

    /// Returns the comparisons; if there are too many keys to compare each, no key of the suite may be newer than the mirror.
    ///
    /// That comparison of the range doesn't detect removals, but the one of the mark does.
    private static func comparisons(
        _ names: Set<String>?,
        _ mirror: Mirror,
        isWrite: Bool,
        limit: Int
    ) -> [Comparison] {
        let keys = mirror.keys
        let compared = names.map { Set($0.map(keys.key(of:))) } ?? Set(mirror.entries.keys)
        // A range is compared with the revision up to which the mirror is complete, which may be older than this store's last write.
        let all = Comparison(noneOf: keys.names, isNewerThan: mirror.revision)
        var comparisons = compared.flatMap { Self.comparisons(of: $0, mirror.entries[$0]) }
        guard comparisons.count + 2 <= limit else {
            return [all, Comparison(key: keys.mark, result: .less, modRevision: mirror.revision + 1)]
        }
        if isWrite {
            comparisons += guards(
                of: compared.filter { mirror.entries[$0] == nil },
                isComplete: names == nil,
                mirror,
                limit: limit - comparisons.count
            )
        }
        return names == nil ? comparisons + [all] : comparisons
    }

    /// Returns the comparisons that hold while a key is as the mirror has it.
    private static func comparisons(of key: Data, _ entry: Mirror.Entry?) -> [Comparison] {
        guard let entry, !entry.isExact else { return [Comparison(key: key, modRevision: entry?.modRevision ?? 0)] }
        // A removed key has the revision zero.
        return [
            Comparison(key: key, result: .less, modRevision: entry.modRevision + 1),
            Comparison(key: key, result: .greater, modRevision: 0),
        ]
    }

    /// Returns the comparisons of the guards of absent keys; of all guards if any further key must be absent, or if they exceed the limit.
    ///
    /// A comparison that failed must never hold again, or a delayed copy of the request could be stored later. An absent key
    /// compares as before after it was put and removed; its guard doesn't, as each removal puts it. A set of an absent name puts no
    /// guard, so those of different names don't conflict.
    private static func guards(
        of absent: some Collection<Data>,
        isComplete: Bool,
        _ mirror: Mirror,
        limit: Int
    ) -> [Comparison] {
        let guards = Set(absent.map(mirror.keys.removalGuard(of:)))
        guard isComplete || guards.count > limit else {
            return guards.map { Comparison(key: $0, result: .less, modRevision: mirror.newest + 1) }
        }
        return [Comparison(noneOf: mirror.keys.removalGuards, isNewerThan: mirror.newest)]
    }

    /// Returns the operations, in nested transactions if they exceed the limit: etcd limits each transaction, not their sum.
    private static func packed(_ writes: [Operation], of changeCount: Int, limit: Int) throws(PreferenceError)
        -> [Operation]
    {
        guard writes.count >= limit else { return writes }
        // For a nested transaction, etcd subtracts the outer one's operations from the limit.
        let size = limit / 2
        let groups = stride(from: 0, to: writes.count, by: size).map {
            TransactionRequest(compare: [], success: Array(writes[$0..<min($0 + size, writes.count)]), failure: [])
        }
        guard groups.count < size else {
            throw PreferenceError(
                .tooLarge,
                "\(changeCount) changes are too many for one etcd transaction; split them, or raise the servers' "
                    + "--max-txn-ops and the configuration's maximumOperations"
            )
        }
        return groups.map { .transaction($0) }
    }
}

extension Comparison {
    /// Creates the comparison that holds if no key of a range was put after a revision.
    fileprivate init(noneOf range: KeyRange, isNewerThan revision: Int64) {
        self.init(key: range.start, rangeEnd: range.end, result: .less, modRevision: revision + 1)
    }
}

extension RangeRequest {
    /// Returns a request for all names of a range and their values.
    static func all(of range: KeyRange) -> RangeRequest {
        RangeRequest(key: range.start, rangeEnd: range.end)
    }

    /// Returns a request for the names that were put since a revision, and the number of all, at a later revision or now.
    static func delta(of range: KeyRange, since revision: Int64, at end: Int64? = nil) -> RangeRequest {
        var request = all(of: range)
        request.minimumModRevision = GatewayInteger(revision + 1)
        request.revision = end.map { GatewayInteger($0) }
        return request
    }

    /// Returns a request for the names that existed at a revision.
    static func names(of range: KeyRange, at revision: Int64) -> RangeRequest {
        var request = all(of: range)
        request.keysOnly = true
        request.revision = GatewayInteger(revision)
        return request
    }

    /// Returns a request for the number of names.
    static func count(of range: KeyRange) -> RangeRequest {
        var request = all(of: range)
        request.countOnly = true
        return request
    }
}
