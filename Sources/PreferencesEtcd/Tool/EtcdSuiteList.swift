#if Etcd
public import Preferences
#endif

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Finds the suites of a prefix in pages of keys.
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
        // In etcd a key of one zero byte is the first one of all, and as the end of a range it means no end.
        start = prefix.isEmpty ? Data() : Data("\(prefix)/".utf8)
        end = prefix.isEmpty ? Data([0]) : Data("\(prefix)0".utf8)
        next = prefix.isEmpty ? Data([0]) : start
        self.pageSize = pageSize
    }

    /// The request for the next page.
    var request: RangeRequest {
        RangeRequest(key: next, rangeEnd: end, limit: GatewayInteger(Int64(pageSize)), keysOnly: true)
    }

    /// Takes the keys of a page.
    mutating func take(_ keys: [Data]) {
        isDone = keys.count < pageSize
        for key in keys {
            guard let suite = suite(of: key) else { continue }
            if names.last != suite { names.append(suite) }
        }
        guard let last = keys.last else { return }
        // What follows the slash behind a suite's name is the suite's; the next character is "0".
        next = suite(of: last).map { start + Data("\($0)0".utf8) } ?? last + [0]
    }

    /// The suite that has a value under a key; nil for a suite's mark and fence and for keys that are no store's.
    private func suite(of key: Data) -> String? {
        let rest = key.dropFirst(start.count)
        guard key.starts(with: start), let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > rest.startIndex,
            slash + 1 < rest.endIndex, rest[slash + 1] != KeySpace.fenceByte
        else { return nil }
        return String(validating: rest[..<slash], as: UTF8.self)
    }
}

#if Etcd
/// The names of the suites on a cluster, for the tool `prefs`; SPI, and no part of the public contract.
@_spi(Tool)
public final class EtcdSuiteList: Sendable {
    private let configuration: EtcdConfiguration
    private let client: GatewayClient

    /// Creates a list; nothing is connected yet.
    ///
    /// - Throws: `misuse` for a configuration that no store could have, `unavailable` if a certificate file can't be read.
    public init(_ configuration: EtcdConfiguration) throws(PreferencesError) {
        let configuration = try configuration.validated()
        self.configuration = configuration
        client = GatewayClient(
            configuration,
            transport: try HTTPTransport(tls: configuration.tls, connectTimeout: configuration.attemptTimeout)
        )
    }

    /// Returns the suites under the prefix that have a value, sorted; reads keys alone, and skips the rest of a large suite.
    ///
    /// Blocks the calling thread for a round trip for each 500 keys or large suite; each is tried for the configuration's
    /// `timeout`.
    ///
    /// - Throws: `unavailable`, or `notPermitted` unless the user may read all keys under the prefix.
    public func names() throws(PreferencesError) -> [String] {
        var scan = SuiteScan(prefix: configuration.prefix)
        do throws(GatewayClient.Failure) {
            repeat {
                let request = scan.request
                let page: RangeResponse = try client.call("/v3/kv/range", within: configuration.timeout) { _ in request
                }
                scan.take((page.kvs ?? []).map(\.key))
            } while !scan.isDone
        } catch {
            throw PreferencesError(error.reason)
        }
        return scan.names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
#endif
