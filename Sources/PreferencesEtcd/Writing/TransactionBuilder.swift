@_spi(Tool) internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A set of changes as a transaction of etcd, on condition that no key concerned was touched since it was read.
///
/// Each key written is compared, too: so a request that comes late, or twice, can't be stored after a newer write.
struct TransactionBuilder: Sendable {
    let keys: KeySpace
    /// The revision of what the changes are based on.
    let base: Int64
    /// The changes, without those that change nothing.
    let changes: [String: PropertyListValue?]
    /// What tells this write from any other; nil for a plain set, which equals any other of the same values.
    let mark: WriteMark?
    private let comparisons: [Comparison]
    private let writes: [Operation]

    /// `changes` are those of `names` that change something; all of `names` must be as they were, too.
    ///
    /// Throws where a value can't be written, or where etcd would not take so many operations.
    init(
        _ changes: [String: PropertyListValue?],
        among names: some Sequence<String>,
        if condition: PreferenceCondition,
        on mirror: Mirror,
        mark: WriteMark,
        limit: Int
    ) throws(PreferencesError) {
        keys = mirror.keys
        base = mirror.revision
        self.changes = changes
        // A removal leaves no key that could be compared; see `comparisons`.
        let isMarked = !condition.values.isEmpty || condition.isComplete || changes.values.contains { $0 == nil }
        self.mark = isMarked ? mark : nil
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
        if isMarked { writes.append(.put(PutRequest(key: keys.mark, value: mark.data))) }
        self.writes = try Self.packed(writes, limit: limit)
        // A transaction inside another may have as many operations as the limit leaves beside the outer one's comparisons.
        let isPacked = writes.count >= limit
        comparisons = Self.comparisons(names, condition, mirror, limit: isPacked ? limit / 2 : limit)
    }

    /// The request; one that may have been sent before also marks its failure, so that the history has an end.
    func request(isRepeated: Bool) -> TransactionRequest {
        let delta = Operation.range(.delta(of: keys, since: base))
        return TransactionRequest(
            compare: comparisons,
            success: [delta] + writes,
            failure: isRepeated ? [delta, .put(PutRequest(key: keys.mark, value: WriteMark.fence))] : [delta]
        )
    }

    /// Whether the events of one revision are this write, and nobody else's.
    func isMade(by events: some Collection<WatchEvent>) -> Bool {
        guard events.count == changes.count + (mark == nil ? 0 : 1) else { return false }
        return events.allSatisfy { event in
            if event.kv.key == keys.mark { return event.kv.value == mark?.data }
            guard let name = keys.name(of: event.kv.key), let value = changes[name] else { return false }
            guard let value else { return event.isRemoval }
            do throws(PreferencesError) {
                let text = try PreferenceText.text(of: value)
                return !event.isRemoval && event.kv.value == Data(text.utf8)
            } catch {
                return false
            }
        }
    }

    /// Where there are too many to compare each, all keys of the suite together must be as old as the mirror.
    ///
    /// That comparison doesn't see what was removed, but whoever removes by this library also puts the mark.
    private static func comparisons(
        _ names: some Sequence<String>,
        _ condition: PreferenceCondition,
        _ mirror: Mirror,
        limit: Int
    ) -> [Comparison] {
        let keys = mirror.keys
        let all = Comparison(key: keys.start, rangeEnd: keys.end, result: .less, modRevision: mirror.revision + 1)
        var compared = Set(names.map(keys.key(of:))).union(condition.values.keys.map(keys.key(of:)))
        let (start, end) = keys.range(of: condition.prefix)
        if condition.isComplete {
            compared.formUnion(mirror.entries.keys.filter { $0 != keys.mark && $0.starts(with: start) })
        }
        guard compared.count < limit else { return [all] }
        let each = compared.map { Comparison(key: $0, modRevision: mirror.entries[$0]?.modRevision ?? 0) }
        let noOther = Comparison(key: start, rangeEnd: end, result: .less, modRevision: mirror.revision + 1)
        return condition.isComplete ? each + [noOther] : each
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
    /// All keys of a suite.
    static func all(of keys: KeySpace) -> RangeRequest { RangeRequest(key: keys.start, rangeEnd: keys.end) }

    /// What was put since a revision, and how many keys there are.
    static func delta(of keys: KeySpace, since revision: Int64) -> RangeRequest {
        var request = all(of: keys)
        request.minimumModRevision = GatewayInteger(revision + 1)
        return request
    }

    /// Which keys there were at a revision.
    static func names(of keys: KeySpace, at revision: Int64) -> RangeRequest {
        var request = all(of: keys)
        request.keysOnly = true
        request.revision = GatewayInteger(revision)
        return request
    }

    /// The key that was changed last, and how many there are.
    static func newest(of keys: KeySpace) -> RangeRequest {
        var request = all(of: keys)
        request.keysOnly = true
        request.limit = 1
        request.sortOrder = "DESCEND"
        request.sortTarget = "MOD"
        return request
    }
}
