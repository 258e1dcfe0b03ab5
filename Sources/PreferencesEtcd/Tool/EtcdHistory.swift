#if Etcd
public import Preferences

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The transactions of a suite on a cluster, the newest first, back to the compaction, for the tool `prefs`; SPI, and not part of the
/// public interface.
///
/// A change by `etcdctl`, or a removal while the cluster has no space, puts no mark and isn't found.
@_spi(Tool)
public struct EtcdHistory {
    /// A transaction of this library.
    public struct Transaction: Equatable {
        /// The cluster's revision at which it was stored.
        public let revision: Int64
        /// The user and the host of the process that wrote; `nil` if the mark doesn't say that, as one of an older version.
        public let author: String?
        /// The name of that process; `nil` as for `author`.
        public let program: String?
        /// The time, by the clock of that host.
        public let time: Date?
        /// The reason that was given.
        public let reason: String?
        /// The values before it of the names whose stored values differ, without those that can't be decoded.
        public let old: [String: PropertyListValue]
        /// The values after it of these names.
        public let new: [String: PropertyListValue]
        /// The names that had a stored value before it which can't be decoded.
        public let unreadableOld: Set<String>
        /// The names that have a stored value after it which can't be decoded.
        public let unreadableNew: Set<String>
        /// Whether its values are unknown, as etcd's history is compacted to its revision or beyond.
        public let isCompacted: Bool
    }

    /// Whether older transactions, or the values of the last one, are compacted; known when `next` has returned `nil`.
    public private(set) var isCompacted = false
    private var isDone = false
    private let keys: KeySpace
    private let configuration: EtcdConfiguration
    private let client: GatewayClient
    /// The revision at which the next mark is read; `nil` for the current one.
    private var revision: Int64?

    /// Creates a history; nothing is connected yet.
    ///
    /// - Throws: `misuse` or `invalidName` if the configuration or the suite is invalid, `unavailable` if a certificate file can't be
    ///   read.
    public init(_ suite: String, _ configuration: EtcdConfiguration) throws(PreferenceError) {
        let configuration = try configuration.validated()
        keys = try KeySpace(prefix: configuration.prefix, suite: suite)
        self.configuration = configuration
        client = GatewayClient(
            configuration,
            transport: try HTTPTransport(tls: configuration.tls, connectTimeout: configuration.attemptTimeout)
        )
    }

    /// Returns the transaction before the last one that was returned, or the newest; `nil` after the oldest one that is known.
    ///
    /// The oldest one might be known by its mark alone, without values. It blocks the calling thread for a round trip for each
    /// transaction that is passed over, and for another one for the values; for more if the mark doesn't list the names and all are
    /// wanted, as the suite is read twice then.
    ///
    /// - Parameter names: The names of which one must have changed, and whose values are read; `nil` for all.
    /// - Throws: `unavailable`, `notPermitted`.
    public mutating func next(of names: [String]? = nil) throws(PreferenceError) -> Transaction? {
        let wanted = names.map { Set($0) }
        while !isDone {
            do throws(GatewayClient.Failure) {
                guard let mark = try newestMark() else { break }
                let stored = mark.modRevision.value
                revision = stored - 1
                let description = WriteMark.description(in: mark.value)
                let listed = description?.names.map { names in
                    names.filter { wanted?.contains($0) ?? true }
                }
                if let listed, listed.isEmpty { continue }
                if let transaction = try transaction(
                    at: stored,
                    description,
                    of: listed ?? names,
                    areListed: listed != nil
                ) {
                    return transaction
                }
            } catch {
                guard error.reason.isCompacted else { throw PreferenceError(error.reason) }
                isCompacted = true
                break
            }
        }
        isDone = true
        return nil
    }

    /// Returns the revisions at which names were stored last, without those that are absent.
    ///
    /// It blocks the calling thread for a round trip, or for several for many names.
    ///
    /// - Throws: `unavailable`, `notPermitted`.
    public func revisions(of names: [String]) throws(PreferenceError) -> [String: Int64] {
        do throws(GatewayClient.Failure) {
            var revisions: [String: Int64] = [:]
            for keyValue in try keyValues(of: names, at: [nil]).joined() {
                if let name = keys.name(of: keyValue.key) { revisions[name] = keyValue.modRevision.value }
            }
            return revisions
        } catch {
            throw PreferenceError(error.reason)
        }
    }

    /// Returns the mark that was put last, up to `revision`.
    private func newestMark() throws(GatewayClient.Failure) -> KeyValue? {
        var request = RangeRequest(key: keys.mark)
        request.revision = revision.map { GatewayInteger($0) }
        return try read(request).kvs?.first
    }

    /// Returns the transaction of a mark; `nil` if no stored value of the names differs, or if it is unknown whether one does.
    ///
    /// - Parameters:
    ///   - names: The names whose values are read; `nil` for all.
    ///   - areListed: Whether the mark lists these names.
    private mutating func transaction(
        at stored: Int64,
        _ description: WriteMark.Description?,
        of names: [String]?,
        areListed: Bool
    ) throws(GatewayClient.Failure) -> Transaction? {
        var (old, new): ([String: KeyValue], [String: KeyValue]) = ([:], [:])
        do throws(GatewayClient.Failure) {
            // No revision is less than two if a key was put at it.
            let parts =
                if let names {
                    try keyValues(of: names, at: [stored - 1, stored])
                } else {
                    [try allKeyValues(at: stored - 1), try allKeyValues(at: stored)]
                }
            (old, new) = (byName(parts[0]), byName(parts[1]))
        } catch {
            guard error.reason.isCompacted else { throw error }
            (isDone, isCompacted) = (true, true)
            if names != nil, !areListed { return nil }
        }
        let changed = Set(old.keys).union(new.keys).filter { old[$0]?.value != new[$0]?.value }
        guard isCompacted || !changed.isEmpty else { return nil }
        (old, new) = (old.filter { changed.contains($0.key) }, new.filter { changed.contains($0.key) })
        // As a store reads them.
        let values = (old: old.compactMapValues(Mirror.value(of:)), new: new.compactMapValues(Mirror.value(of:)))
        return Transaction(
            revision: stored,
            author: description?.author,
            program: description?.program,
            time: description?.time,
            reason: description?.reason,
            old: values.old,
            new: values.new,
            unreadableOld: Set(old.keys).subtracting(values.old.keys),
            unreadableNew: Set(new.keys).subtracting(values.new.keys),
            isCompacted: isCompacted
        )
    }

    /// Returns the keys and values of names at each of some revisions; `nil` for the current one.
    private func keyValues(of names: [String], at revisions: [Int64?]) throws(GatewayClient.Failure) -> [[KeyValue]] {
        var found = revisions.map { _ in [KeyValue]() }
        let size = configuration.maximumOperations / revisions.count
        for start in stride(from: 0, to: names.count, by: size) {
            let keys = names[start..<min(start + size, names.count)].map(keys.key(of:))
            let reads = revisions.flatMap { revision in
                keys.map { Operation.range(RangeRequest(key: $0, revision: revision.map { GatewayInteger($0) })) }
            }
            let request = TransactionRequest(compare: [], success: reads, failure: [])
            let response: TransactionResponse = try client.call("/v3/kv/txn", within: configuration.timeout) { _ in
                request
            }
            for (index, part) in (response.responses ?? []).enumerated() {
                found[index / keys.count] += part.range?.kvs ?? []
            }
        }
        return found
    }

    /// Returns the keys and values of the suite at a revision, read in pages.
    private func allKeyValues(at revision: Int64) throws(GatewayClient.Failure) -> [KeyValue] {
        var found: [KeyValue] = []
        var request: RangeRequest? = .all(of: keys.names)
        while var page = request {
            page.revision = GatewayInteger(revision)
            page.limit = GatewayInteger(SuiteRead.pageSize)
            let response = try read(page)
            found += response.kvs ?? []
            guard response.more == true, let last = response.kvs?.last?.key else { break }
            request?.key = last + [0]
        }
        return found
    }

    private func byName(_ keyValues: [KeyValue]) -> [String: KeyValue] {
        var found: [String: KeyValue] = [:]
        for keyValue in keyValues {
            if let name = keys.name(of: keyValue.key) { found[name] = keyValue }
        }
        return found
    }

    private func read(_ request: RangeRequest) throws(GatewayClient.Failure) -> RangeResponse {
        try client.call("/v3/kv/range", within: configuration.timeout) { _ in request }
    }
}
#endif
