#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A read of all names of a suite, in pages, all of the revision of the first one; a failed first read continues with the
/// missing page.
///
/// A suite of more than a page is complete when its mark at that revision is the one of the first page: a cluster that was restored
/// in between could have given pages of another history.
struct SuiteRead: Sendable {
    /// The names of a page: about 20 ms of a server's processor, so that those who wait for one get it within an attempt.
    static let pageSize: Int64 = 1_000

    private enum Step { case first, next, last, complete }

    /// The time of its first request.
    let begin = ContinuousClock.now
    /// The newest revision that was known before the first page was requested.
    let known: Int64
    private let keys: KeySpace
    private var step = Step.first
    private var nextKey: Data
    /// The revision of the pages; zero before the first.
    private(set) var revision: Int64 = 0
    /// The number of the cluster that gave the first page.
    private(set) var cluster: String?
    /// The suite's mark at the revision.
    private(set) var mark: KeyValue?
    /// The keys and values of the names.
    private(set) var keyValues: [KeyValue] = []

    init(_ keys: KeySpace, known: Int64) {
        self.keys = keys
        self.known = known
        // The mark comes before the names.
        nextKey = keys.mark
    }

    var isComplete: Bool { step == .complete }
    /// Whether it has a page, which the next read needn't request again.
    var isBegun: Bool { step != .first }

    /// The next request.
    var request: RangeRequest {
        var request = RangeRequest(key: nextKey, rangeEnd: keys.names.end)
        request.limit = GatewayInteger(Self.pageSize)
        if step == .last { request = RangeRequest(key: keys.mark) }
        if revision > 0 { request.revision = GatewayInteger(revision) }
        return request
    }

    /// Adds the answer to `request`; returns false if it is of another history, and the suite has to be read from its start.
    mutating func add(_ response: RangeResponse) -> Bool {
        let page = response.kvs ?? []
        switch step {
        case .first:
            revision = response.header?.revision.value ?? 0
            cluster = response.header?.cluster
            mark = page.first { $0.key == keys.mark }
            keyValues = page.filter { $0.key != keys.mark }
            step = continues(after: response) ? .next : .complete
        case .next:
            keyValues += page
            if !continues(after: response) { step = .last }
        case .last:
            guard page.first == mark else { return false }
            step = .complete
        case .complete: break
        }
        return true
    }

    /// Moves to the next page; returns false after the last one.
    private mutating func continues(after response: RangeResponse) -> Bool {
        guard response.more == true, let last = response.kvs?.last?.key else { return false }
        nextKey = last + [0]
        return true
    }
}
