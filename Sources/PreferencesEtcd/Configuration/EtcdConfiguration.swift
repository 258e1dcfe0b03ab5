#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
#if Etcd
internal import CoreMetrics
public import Logging
#endif

/// The configuration of a store over an etcd cluster: its endpoints, security, timeouts, and behaviour while they can't be reached.
public struct EtcdConfiguration: Sendable {
    /// The URLs of the members: `http` or `https`, host and port, such as `http://127.0.0.1:2379`.
    ///
    /// One is chosen at random and used until it doesn't answer, so the programs of a fleet spread over the members, in whatever
    /// order these are listed. A slash at the end and duplicates are dropped.
    public var endpoints: [String]
    /// The prefix of the keys of all stores; a name's key is `prefix/suite/name`, or `suite/name` if this is empty.
    ///
    /// It must not begin or end with a slash or have an empty part. The default is `preferences`.
    public var prefix = "preferences"
    /// The user, if the cluster requires one.
    public var credentials: EtcdCredentials?
    /// The certificates for `https` endpoints; `nil` trusts the authorities that the system trusts.
    public var tls: EtcdTLS?
    /// The time for which a write, or a call that opens the store, is tried at all endpoints; the last answer may take `attemptTimeout`
    /// more. The default is 10 s. A suite that is not read by then is read further in the background.
    public var timeout = Duration.seconds(10)
    /// The time that one endpoint has to begin an answer, or to continue it, before the next is tried; 2 s by default.
    ///
    /// Reads of the suite wait longer, up to 30 s, after all endpoints were silent.
    public var attemptTimeout = Duration.seconds(2)
    /// The time without a message of the watch, ±10 %, after which its member is asked whether changes were missed; 10 s by default.
    public var probeInterval = Duration.seconds(10)
    /// The time, ±50 %, after which the open watch moves to a member chosen at random; 30 minutes by default, `nil` for never.
    ///
    /// Moves spread the watches of a fleet again after a member was unavailable. A move misses no change and is no disconnection; if
    /// the chosen member doesn't answer within `attemptTimeout`, the watch stays at its member.
    public var rebalanceInterval: Duration? = .seconds(1800)
    /// The cache: a file, or a folder, with a copy of all values, from which a program starts without waiting for an endpoint.
    ///
    /// The first read and `load()` return the values of the cache, and what has changed since arrives as external changes. If it is `nil`,
    /// they wait for an endpoint; without one they report an error, and reads return defaults until one answers. The file has the file
    /// store's format and holds only the copy, with its place in the cluster's history as `preferences.etcd`; its folder is created if it
    /// is missing. Each suite has a file of its own: in a folder by its name, else the first suite has the file, and each other one
    /// another file next to it, with the suite's name in that of the file. One store at a time writes it. A copy of another suite,
    /// or of a cluster with other endpoints, is never shown.
    public var cacheFile: URL?
    /// The servers' `--max-txn-ops`, at least 4; 128 by default, as with etcd.
    public var maximumOperations = 128
    /// The reason that each write of the store gives in the suite's log; `nil` for none. For the tool `prefs`.
    @_spi(Tool) public var reason: String?
    /// Returns whether the schema in the suite isn't applied to a write of the store. For the tool `prefs`.
    @_spi(Tool) public var ignoresSchema: @Sendable () -> Bool = { false }
    #if Etcd
    /// The log of connections, certificates and, at debug, retries; `nil` logs nothing.
    ///
    /// It gets no values, passwords or tokens. A handler runs on the thread of the request or the watch, and must not set
    /// preferences of the store. Issues go to the store's `issueHandler` instead.
    public var logger: Logger?
    /// The factory of the metrics; `nil` for the one that the program has bootstrapped.
    var metrics: (any MetricsFactory)?
    #endif
    /// Returns a random number in 0..<1, which chooses endpoints and varies pauses.
    var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// Creates a configuration for a cluster; creating a store with it checks it.
    public init(endpoints: [String]) {
        self.endpoints = endpoints
    }
}
