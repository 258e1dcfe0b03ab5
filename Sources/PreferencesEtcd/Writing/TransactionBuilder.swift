@_spi(Tool) internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A set of changes as a transaction of etcd, on condition that no key concerned was touched since it was read.
///
/// Each key written is compared, too, and if one is absent the mark: so a request that comes late, or twice, can't be
/// stored after a newer write or removal. Without changes it only asks whether the keys are as they were.
struct TransactionBuilder: Sendable {
    let keys: KeySpace
    /// The revision after which the write is stored, if it is.
    let base: Int64
    /// The changes, without those that change nothing.
    let changes: [String: PropertyListValue?]
    /// The mark that tells this write from any other; nil if it puts nothing.
    private(set) var mark: WriteMark?
    /// The revision up to which everything was known.
    let revision: Int64
    private let comparisons: [Comparison]
    private let writes: [Operation]

    /// Creates a transaction.
    ///
    /// - Parameters:
    ///   - changes: Those of `names` that change something; all of `names` must be as they were, too.
    ///   - mark: The mark to put; nil leaves it as it is.
    ///   - limit: The servers' `--max-txn-ops`.
    /// - Throws: If a value can't be written, or etcd would not take so many operations.
    init(
        _ changes: [String: PropertyListValue?],
        among names: some Sequence<String>,
        if condition: PreferenceCondition,
        on mirror: Mirror,
        mark: WriteMark?,
        limit: Int
    ) throws(PreferencesError) {
        keys = mirror.keys
        base = mirror.newest
        revision = mirror.revision
        self.changes = changes
        self.mark = mark
        var writes: [Operation] = []
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            let key = keys.key(of: name)
            if let value {
                let text = try PreferenceText.text(of: value)
                writes.append(.put(PutRequest(key: key, value: Data(text.utf8))))
            } else {
                writes.append(.delete(DeleteRequest(key: key)))
            }
        }
        self.writes = try Self.packed(writes, limit: limit)
        // A transaction inside another may have as many operations as the limit leaves beside the outer one's comparisons.
        let isPacked = writes.count >= limit
        let comparisonLimit = isPacked ? limit / 2 : limit
        comparisons = Self.comparisons(names, condition, mirror, isWrite: !changes.isEmpty, limit: comparisonLimit)
    }

    /// Returns the request; one that may have been sent before puts a fence if it fails, so that the history has an end.
    func request(isRepeated: Bool) -> TransactionRequest {
        let delta = Operation.range(.delta(of: keys, since: revision))
        guard let mark else { return TransactionRequest(compare: comparisons, success: writes, failure: [delta]) }
        let fence = Operation.put(PutRequest(key: keys.fence, value: WriteMark.fence))
        return TransactionRequest(
            compare: comparisons,
            success: writes + [.put(PutRequest(key: keys.mark, value: mark.data))],
            failure: isRepeated ? [delta, fence] : [delta]
        )
    }

    /// The same without the mark, as a cluster without space takes no transaction that puts anything; nil if this one has to.
    var unmarked: TransactionBuilder? {
        guard mark != nil, changes.values.allSatisfy({ $0 == nil }) else { return nil }
        var builder = self
        builder.mark = nil
        return builder
    }

    /// Returns whether a name that it removes is still what it was.
    func isUntouched(in mirror: Mirror) -> Bool {
        comparisons.contains { comparison in
            comparison.modRevision.value > 0 && comparison.result == .equal
                && mirror.entries[comparison.key]?.modRevision == comparison.modRevision.value
                && changes.keys.contains { keys.key(of: $0) == comparison.key }
        }
    }

    /// Returns whether the events of one revision are this write.
    func isMade(by events: some Collection<WatchEvent>) -> Bool {
        events.contains { isMade(by: $0.kv) }
    }

    /// Returns whether a key and value are the mark of this write.
    func isMade(by keyValue: KeyValue) -> Bool {
        keyValue.key == keys.mark && mark != nil && keyValue.value == mark?.data
    }

    /// Returns what must hold; if there are too many keys to compare each, all of the suite must be as old as the mirror.
    ///
    /// That comparison doesn't see what was removed, but the mark does.
    private static func comparisons(
        _ names: some Sequence<String>,
        _ condition: PreferenceCondition,
        _ mirror: Mirror,
        isWrite: Bool,
        limit: Int
    ) -> [Comparison] {
        let keys = mirror.keys
        var compared = Set(names.map(keys.key(of:))).union(condition.values.keys.map(keys.key(of:)))
        let (start, end) = keys.range(of: condition.prefix)
        if condition.isComplete {
            compared.formUnion(mirror.entries.keys.filter { $0.starts(with: keys.key(of: condition.prefix)) })
        }
        // A range is compared with what is known of all of it, which may be older than the store's own last write.
        guard compared.count + 2 <= limit else {
            let (start, end) = keys.names
            return [
                Comparison(key: start, rangeEnd: end, result: .less, modRevision: mirror.revision + 1),
                Comparison(key: keys.mark, result: .less, modRevision: mirror.revision + 1),
            ]
        }
        var comparisons = compared.map { Comparison(key: $0, modRevision: mirror.entries[$0]?.modRevision ?? 0) }
        // A comparison that failed must never hold again, or a request that comes late could be stored after it was given up. An
        // absent key is as it was after somebody put and removed it; the mark isn't.
        if isWrite, compared.contains(where: { mirror.entries[$0] == nil }) {
            comparisons.append(Comparison(key: keys.mark, result: .less, modRevision: mirror.newest + 1))
        }
        if condition.isComplete {
            comparisons.append(Comparison(key: start, rangeEnd: end, result: .less, modRevision: mirror.revision + 1))
        }
        return comparisons
    }

    /// Packs what is too much for one transaction into transactions inside it: etcd limits each, not their sum.
    private static func packed(_ writes: [Operation], limit: Int) throws(PreferencesError) -> [Operation] {
        guard writes.count >= limit else { return writes }
        // An inner one may have as many as the limit leaves beside the outer one's.
        let size = limit / 2
        let groups = stride(from: 0, to: writes.count, by: size).map {
            TransactionRequest(compare: [], success: Array(writes[$0..<min($0 + size, writes.count)]), failure: [])
        }
        guard groups.count < size else {
            throw PreferencesError(
                .tooLarge,
                "\(writes.count) changes at once are more than etcd takes; make several sets of them, or raise the "
                    + "servers' --max-txn-ops and the configuration's maximumOperations"
            )
        }
        return groups.map { .transaction($0) }
    }
}

extension RangeRequest {
    /// All names of a suite.
    static func all(of keys: KeySpace) -> RangeRequest {
        RangeRequest(key: keys.names.start, rangeEnd: keys.names.end)
    }

    /// The names that were put since a revision, and how many there are.
    static func delta(of keys: KeySpace, since revision: Int64) -> RangeRequest {
        var request = all(of: keys)
        request.minimumModRevision = GatewayInteger(revision + 1)
        return request
    }

    /// The names that there were at a revision.
    static func names(of keys: KeySpace, at revision: Int64) -> RangeRequest {
        var request = all(of: keys)
        request.keysOnly = true
        request.revision = GatewayInteger(revision)
        return request
    }

    /// How many names there are.
    static func count(of keys: KeySpace) -> RangeRequest {
        var request = all(of: keys)
        request.countOnly = true
        return request
    }
}
