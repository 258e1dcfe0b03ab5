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
    /// The behaviour of writes while no endpoint can be reached.
    public enum OfflineWrites: Hashable, Sendable {
        /// A write throws `PreferenceError.Code.unavailable` after `timeout`, or `outcomeUnknown` if it may be stored.
        case failing
        /// A write is kept in memory, can be read at once, and is sent in order when an endpoint can be reached.
        ///
        /// It is lost with the process unless `keepsWaitingWrites` is set; `flush` throws while any write is queued. If another process
        /// has changed a value in the meantime, a plain set replaces it, while an `update` or transaction is dropped and reported.
        case queueing
    }

    /// The URLs of the members: `http` or `https`, host and port, such as `http://127.0.0.1:2379`.
    ///
    /// One is chosen at random and used until it doesn't answer, so the programs of a fleet spread over the members, in whatever
    /// order these are listed. A slash at the end and duplicates are dropped.
    public var endpoints: [String]
    /// The prefix of the keys of all stores; a name's key is `prefix/suite/name`, or `suite/name` if this is empty.
    ///
    /// It must not begin or end with a slash or have an empty part. The default is `preferences`.
    public var prefix = "preferences"
    /// The ids of scopes to read, by the name of the scope: of each scope that is listed, the names of other ids are neither read nor
    /// watched; empty by default, for all names.
    ///
    ///     configuration.scopes = ["host": ["web-1"], "group": ["east"]]
    ///
    /// With this, a program on `web-1` reads the names of `store.scoped("host", id: "web-1")` and `store.scoped("group", id: "east")`, and
    /// all that are in neither scope. So the names of 10,000 hosts needn't reach each of them. A name of another id reads as absent, isn't
    /// in `names` and `contents`, and stays when `removeAll()` removes the others; a write of it throws `misuse`, and so does a transaction
    /// that reads it. A transaction that sets names of several scopes is received in one step. Each change that is received needs one
    /// request, as the ranges of keys are watched separately; changes in quick succession can be received as one.
    public var scopes: [String: [String]] = [:]
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
    /// The behaviour of writes while no endpoint can be reached; `.failing` by default.
    public var offlineWrites = OfflineWrites.failing
    /// The largest number of writes that `.queueing` queues, at least 1; one more throws `unavailable` and changes nothing.
    ///
    /// A plain set replaces a queued one of the same name, and then adds nothing to the number. The default is 10,000.
    public var maximumWaitingWrites = 10_000
    /// Whether queued writes outlive the program, in the file at `cacheFile` with `.queue` appended; requires `.queueing`.
    ///
    /// A write returns when it is written to that file. The next store with this cache file has the queued values from its first read,
    /// and sends them. Only one store at a time can use the file; creating another one throws `misuse`. The default is `false`.
    public var keepsWaitingWrites = false
    /// The cache: a file, or a folder, with a copy of all values, from which a program starts without waiting for an endpoint.
    ///
    /// The first read and `load()` return the values of the cache, and what has changed since arrives as external changes. If it is `nil`,
    /// they wait for an endpoint; without one they report an error, and reads return defaults until one answers. The file has the file
    /// store's format and holds only the copy, with its place in the cluster's history as `preferences.etcd`; its folder is created if it
    /// is missing. Each suite has a file of its own: in a folder by its name, else the first suite has the file, and each other one
    /// another file next to it, with the suite's name in that of the file. One store at a time writes it. A copy of another suite,
    /// of other `scopes`, or of a cluster with other endpoints, is never shown.
    public var cacheFile: URL?
    /// The servers' `--max-txn-ops`, at least 4; 128 by default, as with etcd.
    public var maximumOperations = 128
    /// The reason that each write of the store gives in the suite's log; `nil` for none. For the tool `prefs`.
    @_spi(Tool) public var reason: String?
    /// Returns whether the schema in the suite isn't applied to a write of the store. For the tool `prefs`.
    @_spi(Tool) public var ignoresSchema: @Sendable () -> Bool = { false }
    #if Etcd
    /// The log of connections, certificates, queued writes and, at debug, retries; `nil` logs nothing.
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
