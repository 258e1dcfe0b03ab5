#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// The requests to the gateway, with etcd's names. Data is encoded as base64, and nil is omitted.

/// A read of the keys from `key` on that are less than `rangeEnd`; of `key` alone if that is `nil`.
struct RangeRequest: Encodable, Sendable {
    var key: Data
    var rangeEnd: Data?
    /// The revision before which keys that were last modified are omitted; the count includes them.
    var minimumModRevision: GatewayInteger?
    /// The revision to read at; `nil` for the current one.
    var revision: GatewayInteger?
    var limit: GatewayInteger?
    var keysOnly: Bool?
    var countOnly: Bool?
    /// Whether the member answers without asking the others: then its answer is of what it has, which may be older.
    var isSerializable: Bool?

    enum CodingKeys: String, CodingKey {
        case key, revision, limit
        case isSerializable = "serializable"
        case rangeEnd = "range_end"
        case minimumModRevision = "min_mod_revision"
        case keysOnly = "keys_only"
        case countOnly = "count_only"
    }
}

struct PutRequest: Encodable, Sendable {
    var key: Data
    var value: Data
}

struct DeleteRequest: Encodable, Sendable {
    var key: Data
}

/// A comparison of the revision of a key, or of each key of a range.
struct Comparison: Encodable, Hashable, Sendable {
    enum Result: String, Encodable { case equal = "EQUAL", less = "LESS", greater = "GREATER" }

    var key: Data
    var rangeEnd: Data?
    var result = Result.equal
    var modRevision: GatewayInteger
    private let target = "MOD"

    init(key: Data, rangeEnd: Data? = nil, result: Result = .equal, modRevision: Int64) {
        self.key = key
        self.rangeEnd = rangeEnd
        self.result = result
        self.modRevision = GatewayInteger(modRevision)
    }

    enum CodingKeys: String, CodingKey {
        case key, result, target
        case rangeEnd = "range_end"
        case modRevision = "mod_revision"
    }
}

/// One operation of a transaction.
enum Operation: Encodable, Sendable {
    case range(RangeRequest)
    case put(PutRequest)
    case delete(DeleteRequest)
    case transaction(TransactionRequest)

    private enum CodingKeys: String, CodingKey {
        case range = "request_range"
        case put = "request_put"
        case delete = "request_delete_range"
        case transaction = "request_txn"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .range(let request): try container.encode(request, forKey: .range)
        case .put(let request): try container.encode(request, forKey: .put)
        case .delete(let request): try container.encode(request, forKey: .delete)
        case .transaction(let request): try container.encode(request, forKey: .transaction)
        }
    }
}

struct TransactionRequest: Encodable, Sendable {
    var compare: [Comparison]
    var success: [Operation]
    var failure: [Operation]

    /// Returns a transaction of reads alone.
    static func reading(_ requests: [RangeRequest]) -> TransactionRequest {
        TransactionRequest(compare: [], success: requests.map { .range($0) }, failure: [])
    }
}

/// A request to watch a range; a stream begins with one for each of its ranges.
struct WatchRequest: Encodable, Sendable {
    struct Create: Encodable, Sendable {
        var key: Data
        var rangeEnd: Data
        var startRevision: GatewayInteger
        /// Requests the current revision regularly also without events, so that the one to resume from is rarely compacted.
        private let progressNotify = true

        init(key: Data, rangeEnd: Data, startRevision: Int64) {
            self.key = key
            self.rangeEnd = rangeEnd
            self.startRevision = GatewayInteger(startRevision)
        }

        enum CodingKeys: String, CodingKey {
            case key
            case rangeEnd = "range_end"
            case startRevision = "start_revision"
            case progressNotify = "progress_notify"
        }
    }

    var create: Create

    enum CodingKeys: String, CodingKey {
        case create = "create_request"
    }
}

struct AuthenticateRequest: Encodable, Sendable, CustomReflectable {
    var name: String
    var password: String

    /// A mirror without the password, which descriptions and dumps use.
    var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["name": name]) }
}
