#if Etcd
public import Preferences
#endif

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A scan for the suites of a prefix, in pages of keys.
struct SuiteScan {
    /// The names found, each once, in the order of the keys.
    private(set) var names: [String] = []
    /// Whether there are no further keys.
    private(set) var isDone = false
    private let start: Data
    private let end: Data
    private let pageSize: Int
    private var next: Data

    init(prefix: String, pageSize: Int = 500) {
        // For etcd a key of one zero byte is the first of all keys, and as the end of a range it means no end.
        start = prefix.isEmpty ? Data() : Data("\(prefix)/".utf8)
        end = prefix.isEmpty ? Data([0]) : Data("\(prefix)0".utf8)
        next = prefix.isEmpty ? Data([0]) : start
        self.pageSize = pageSize
    }

    /// The request for the next page.
    var request: RangeRequest {
        RangeRequest(key: next, rangeEnd: end, limit: GatewayInteger(Int64(pageSize)), keysOnly: true)
    }

    /// Adds the keys of a page.
    mutating func add(_ keys: [Data]) {
        isDone = keys.count < pageSize
        for key in keys {
            guard let suite = suite(of: key) else { continue }
            if names.last != suite { names.append(suite) }
        }
        guard let last = keys.last else { return }
        // The keys of a suite begin with its name and a slash, and "0" is the character after the slash.
        next = suite(of: last).map { start + Data("\($0)0".utf8) } ?? last + [0]
    }

    /// Returns the suite that has a value under a key; `nil` for the mark and fence of a suite, and for keys of no suite.
    private func suite(of key: Data) -> String? {
        let rest = key.dropFirst(start.count)
        guard key.starts(with: start), let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > rest.startIndex,
            slash + 1 < rest.endIndex, rest[slash + 1] != KeySpace.fenceByte
        else { return nil }
        return String(validating: rest[..<slash], as: UTF8.self)
    }
}

#if Etcd
/// A list of the suites on a cluster, for the tool `prefs`; SPI, and not part of the public interface.
@_spi(Tool)
public final class EtcdSuiteList: Sendable {
    private let configuration: EtcdConfiguration
    private let client: GatewayClient

    /// Creates a list; nothing is connected yet.
    ///
    /// - Throws: `misuse` if the configuration is invalid, `unavailable` if a certificate file can't be read.
    public init(_ configuration: EtcdConfiguration) throws(PreferenceError) {
        let configuration = try configuration.validated()
        self.configuration = configuration
        client = GatewayClient(
            configuration,
            transport: try HTTPTransport(tls: configuration.tls, connectTimeout: configuration.attemptTimeout)
        )
    }

    /// Returns the suites under the prefix that have a value, sorted; reads only keys, and skips the rest of a large suite.
    ///
    /// It blocks the calling thread for a round trip for each 500 keys or large suite; each is tried for the configuration's
    /// `timeout`.
    ///
    /// - Throws: `unavailable`, or `notPermitted` if the user must not read all keys under the prefix.
    public func names() throws(PreferenceError) -> [String] {
        var scan = SuiteScan(prefix: configuration.prefix)
        do throws(GatewayClient.Failure) {
            repeat {
                let request = scan.request
                let page: RangeResponse = try client.call("/v3/kv/range", within: configuration.timeout) { _ in request
                }
                scan.add((page.kvs ?? []).map(\.key))
            } while !scan.isDone
        } catch {
            let problem = PreferenceError(error.reason)
            // gRPC's code for a user without permission.
            guard case .refused(7, _) = error.reason else { throw problem }
            let keys = configuration.prefix.isEmpty ? "all keys" : "all keys below \(configuration.prefix)/"
            throw PreferenceError(problem.code, "\(problem.message); a list of the suites needs \(keys)")
        }
        return scan.names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
#endif
