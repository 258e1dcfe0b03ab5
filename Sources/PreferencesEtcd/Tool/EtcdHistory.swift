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
        /// The values before it of the names whose values differ.
        public let old: [String: PropertyListValue]
        /// The values after it of these names.
        public let new: [String: PropertyListValue]
    }

    /// Whether older transactions, or the values before them, are compacted; known when `next` has returned `nil`.
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

    /// Returns the transaction before the last one that was returned, or the newest; `nil` after the oldest one whose values the cluster
    /// still has.
    ///
    /// It blocks the calling thread for two round trips; for more if the mark doesn't list the names, as the suite is read twice then.
    ///
    /// - Throws: `unavailable`, `notPermitted`.
    public mutating func next() throws(PreferenceError) -> Transaction? {
        guard !isDone else { return nil }
        do throws(GatewayClient.Failure) {
            guard let transaction = try previous() else {
                isDone = true
                return nil
            }
            revision = transaction.revision - 1
            return transaction
        } catch {
            guard error.reason.isCompacted else { throw PreferenceError(error.reason) }
            (isDone, isCompacted) = (true, true)
            return nil
        }
    }

    private func previous() throws(GatewayClient.Failure) -> Transaction? {
        var request = RangeRequest(key: keys.mark)
        request.revision = revision.map { GatewayInteger($0) }
        guard let mark = try read(request).kvs?.first else { return nil }
        let description = WriteMark.description(in: mark.value)
        let stored = mark.modRevision.value
        // No revision is less than two if a key was put at it.
        let (old, new) =
            if let names = description?.names {
                try values(of: names, before: stored)
            } else {
                (old: try allValues(at: stored - 1), new: try allValues(at: stored))
            }
        let changed = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
        return Transaction(
            revision: stored,
            author: description?.author,
            program: description?.program,
            time: description?.time,
            reason: description?.reason,
            old: old.filter { changed.contains($0.key) },
            new: new.filter { changed.contains($0.key) }
        )
    }

    private typealias Values = [String: PropertyListValue]

    /// Returns the values of names at the revision before another, and at that.
    private func values(
        of names: [String],
        before revision: Int64
    ) throws(GatewayClient.Failure) -> (old: Values, new: Values) {
        var (old, new): (Values, Values) = ([:], [:])
        // Two reads for each name.
        let size = configuration.maximumOperations / 2
        for start in stride(from: 0, to: names.count, by: size) {
            let keys = names[start..<min(start + size, names.count)].map(keys.key(of:))
            let reads = [revision - 1, revision].flatMap { revision in
                keys.map { Operation.range(RangeRequest(key: $0, revision: GatewayInteger(revision))) }
            }
            let request = TransactionRequest(compare: [], success: reads, failure: [])
            let response: TransactionResponse = try client.call("/v3/kv/txn", within: configuration.timeout) { _ in
                request
            }
            let parts = (response.responses ?? []).map { $0.range?.kvs ?? [] }
            add(parts.prefix(keys.count).flatMap(\.self), to: &old)
            add(parts.dropFirst(keys.count).flatMap(\.self), to: &new)
        }
        return (old, new)
    }

    /// Returns the values of the suite at a revision, in pages.
    private func allValues(at revision: Int64) throws(GatewayClient.Failure) -> Values {
        var values: Values = [:]
        var request: RangeRequest? = .all(of: keys)
        while var page = request {
            page.revision = GatewayInteger(revision)
            page.limit = GatewayInteger(SuiteRead.pageSize)
            let response = try read(page)
            add(response.kvs ?? [], to: &values)
            guard response.more == true, let last = response.kvs?.last?.key else { break }
            request?.key = last + [0]
        }
        return values
    }

    /// Adds values as a store reads them: one that can't be decoded is absent.
    private func add(_ keyValues: [KeyValue], to values: inout Values) {
        for keyValue in keyValues {
            if let name = keys.name(of: keyValue.key) { values[name] = Mirror.value(of: keyValue) }
        }
    }

    private func read(_ request: RangeRequest) throws(GatewayClient.Failure) -> RangeResponse {
        try client.call("/v3/kv/range", within: configuration.timeout) { _ in request }
    }
}
#endif
