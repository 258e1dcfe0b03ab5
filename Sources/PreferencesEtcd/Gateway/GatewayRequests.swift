#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// What is sent to the gateway, with etcd's own names. Data is written as base64; nil is left out.

/// The keys from `key` on, below `rangeEnd`; the one key where that is nil.
struct RangeRequest: Encodable, Sendable {
    var key: Data
    var rangeEnd: Data?
    /// Only what was changed at this revision or later; what is counted stays all.
    var minimumModRevision: GatewayInteger?
    /// As of this revision and not of now.
    var revision: GatewayInteger?
    var limit: GatewayInteger?
    var keysOnly: Bool?
    var countOnly: Bool?

    enum CodingKeys: String, CodingKey {
        case key, revision, limit
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

/// What must hold of a key, or of every key of a range.
struct Comparison: Encodable, Hashable, Sendable {
    enum Result: String, Encodable { case equal = "EQUAL", less = "LESS" }

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
}

struct WatchRequest: Encodable, Sendable {
    struct Create: Encodable, Sendable {
        var key: Data
        var rangeEnd: Data
        var startRevision: GatewayInteger
        /// Lets etcd tell its revision now and then where nothing happens, so that a compaction rarely hurts.
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

    /// Without the password; a description shows no more.
    var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["name": name]) }
}
