#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
#if Etcd
internal import CoreMetrics
public import Logging
#endif

/// How a store reaches its etcd cluster, and what it does while it can't.
public struct EtcdConfiguration: Sendable {
    /// What a write does while no endpoint can be reached.
    public enum OfflineWrites: Hashable, Sendable {
        /// It throws `PreferencesError.Code.unavailable` once `timeout` is over, or `outcomeUnknown` where it may be done.
        case failing
        /// It is kept in memory, readable at once, and sent in order when an endpoint can be reached.
        ///
        /// It ends with the process unless `keepsWaitingWrites` is set; `flush` throws while any waits. What then meets a value that somebody else
        /// has set is decided by its condition: a plain set wins, an `update` or transaction is dropped and reported.
        case queueing
    }

    /// The URLs of the members: `http` or `https`, host and port, such as `http://127.0.0.1:2379`.
    ///
    /// One is chosen at random and used until it doesn't answer, so that a fleet spreads over the members however they
    /// are listed. A slash at the end and duplicates are dropped.
    public var endpoints: [String]
    /// What the keys of all stores begin with; a name's key is `prefix/suite/name`, or `suite/name` if this is empty.
    ///
    /// It must not begin or end with a slash or have an empty part, so that one set of keys has one spelling.
    public var prefix = "preferences"
    /// The user, where the cluster demands one.
    public var credentials: EtcdCredentials?
    /// Certificates for `https` endpoints; nil trusts what the system trusts.
    public var tls: EtcdTLS?
    /// How long a read of all, or a write, is tried over every endpoint; the last answer may take `attemptTimeout` more.
    public var timeout = Duration.seconds(10)
    /// How long one endpoint may take to answer before the next is tried.
    public var attemptTimeout = Duration.seconds(2)
    /// After how long a silence, ±10 %, the member that watches is asked whether anything was missed.
    public var probeInterval = Duration.seconds(10)
    /// How often, ±50 %, the open watch is moved to a member chosen at random; `nil`: never.
    ///
    /// It spreads the watches of a fleet again after a member was away. A move has no gap and no disconnection; if the
    /// chosen member doesn't answer within `attemptTimeout` the watch stays where it is.
    public var rebalanceInterval: Duration? = .seconds(1800)
    /// What a write does while no endpoint can be reached.
    public var offlineWrites = OfflineWrites.failing
    /// How many writes may wait with `.queueing`; one more throws `unavailable` and changes nothing. At least 1.
    ///
    /// Plain sets of names that wait already are not counted again.
    public var maximumWaitingWrites = 10_000
    /// Whether writes that wait outlive the program, in the file at `cacheFile` with `.queue` appended; needs `.queueing`.
    ///
    /// A set returns when it stands in that file. The next store with this cache file shows them from its first read, and sends
    /// them. One store at a time may use the file: another one can't be made.
    public var keepsWaitingWrites = false
    /// A file to keep a copy of all values in, so that a program can start while no endpoint can be reached.
    ///
    /// Nil: such a start reports an error and reads give defaults until an endpoint answers. It is a file of the file
    /// store's form, with its folder made where there is none, and holds nothing but a copy.
    public var cacheFile: URL?
    /// The server's `--max-txn-ops`; at least 4.
    public var maximumOperations = 128
    #if Etcd
    /// The log of connections, certificates, waiting writes and, at debug, retries; `nil`: nothing is logged.
    ///
    /// It gets no values, passwords or tokens. A handler runs on the thread of the request or the watch, and must not set
    /// what the store keeps. Issues go to the store's `issueHandler`, not here.
    public var logger: Logger?
    /// Makes the metrics; `nil` for the factory that the program has bootstrapped.
    var metrics: (any MetricsFactory)?
    #endif
    /// Chooses endpoints and spreads pauses: a number in 0..<1.
    var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// Creates a configuration for a cluster; it is checked when a store is made of it.
    public init(endpoints: [String]) {
        self.endpoints = endpoints
    }
}
