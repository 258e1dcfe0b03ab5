#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// The answers of the gateway, which omits fields that are zero, false or empty.

struct ResponseHeader: Decodable, Hashable, Sendable {
    /// The number of the cluster, of 64 bits without a sign.
    var cluster: String?
    var revision: GatewayInteger?

    enum CodingKeys: String, CodingKey {
        case revision
        case cluster = "cluster_id"
    }
}

/// An answer about keys, whose header says of which cluster and revision it is.
protocol KeyResponse: Decodable {
    var header: ResponseHeader? { get }
}

struct KeyValue: Decodable, Hashable, Sendable {
    var key: Data
    var value: Data?
    var modRevision: GatewayInteger?

    enum CodingKeys: String, CodingKey {
        case key, value
        case modRevision = "mod_revision"
    }
}

struct RangeResponse: KeyResponse, Sendable {
    var header: ResponseHeader?
    var kvs: [KeyValue]?
    /// The number of keys in the range, including those that `kvs` omits.
    var count: GatewayInteger?
    /// Whether the request's limit has cut off keys.
    var more: Bool?
}

struct TransactionResponse: KeyResponse, Sendable {
    struct Part: Decodable, Sendable {
        var range: RangeResponse?

        enum CodingKeys: String, CodingKey {
            case range = "response_range"
        }
    }

    var header: ResponseHeader?
    var succeeded: Bool?
    var responses: [Part]?

    /// Returns the answers to the first reads of the transaction as if one read had given them.
    func joinedRanges(_ count: Int) -> RangeResponse {
        let parts = (responses ?? []).prefix(count).compactMap(\.range)
        return RangeResponse(
            header: header,
            kvs: parts.flatMap { $0.kvs ?? [] },
            count: GatewayInteger(parts.reduce(0) { $0 + $1.count.value })
        )
    }
}

struct WatchEvent: Decodable, Hashable, Sendable {
    /// The type, which is omitted for a put.
    var type: String?
    var kv: KeyValue

    var isRemoval: Bool { type == "DELETE" }
}

extension [WatchEvent] {
    /// The events of each revision, in order.
    var revisions: [ArraySlice<WatchEvent>] {
        var revisions: [ArraySlice<WatchEvent>] = []
        var rest = self[...]
        while let revision = rest.first?.kv.modRevision.value {
            revisions.append(rest.prefix { $0.kv.modRevision.value == revision })
            rest = rest.dropFirst(revisions.last?.count ?? 1)
        }
        return revisions
    }
}

struct WatchResponse: Decodable, Sendable {
    var header: ResponseHeader?
    /// The number of the watch in its stream, which is omitted for the first, numbered zero.
    var watch: GatewayInteger?
    var created: Bool?
    var canceled: Bool?
    var compactRevision: GatewayInteger?
    var cancelReason: String?
    var events: [WatchEvent]?

    enum CodingKeys: String, CodingKey {
        case header, created, canceled, events
        case watch = "watch_id"
        case compactRevision = "compact_revision"
        case cancelReason = "cancel_reason"
    }
}

struct AuthenticateResponse: Decodable, Sendable {
    var token: String?
}

/// An error of the server; in a stream, it is nested in `error` and its code has another name.
struct ErrorResponse: Decodable, Hashable, Sendable, Error {
    var code: Int
    var message: String

    init(code: Int, message: String) {
        self.code = code
        self.message = message
    }

    private enum CodingKeys: String, CodingKey {
        case code, message, error
        case streamCode = "grpc_code"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let code = try container.decodeIfPresent(Int.self, forKey: .code)
        self.code = try code ?? container.decode(Int.self, forKey: .streamCode)
        // The codes of gRPC; a proxy's JSON has none or those of HTTP.
        guard 1...16 ~= self.code else {
            let text = "\(self.code) is no code of gRPC"
            throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: text))
        }
        let message = try container.decodeIfPresent(String.self, forKey: .message)
        self.message = try message ?? container.decodeIfPresent(String.self, forKey: .error) ?? "no message"
    }
}

/// A line of a stream.
struct StreamLine: Decodable, Sendable {
    var result: WatchResponse?
    var error: ErrorResponse?
}
