#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How a store reaches its etcd cluster, and what it does while it can't.
public struct EtcdConfiguration: Sendable {
    /// What a write does while no endpoint can be reached.
    public enum OfflineWrites: Hashable, Sendable {
        /// It throws `PreferencesError.Code.unavailable` once `timeout` is over, or `outcomeUnknown` where it may be done.
        case failing
        /// It is kept in memory, readable at once, and sent in order when an endpoint can be reached.
        ///
        /// It ends with the process; `flush` throws as long as any waits. What then meets a value that somebody else
        /// has set is decided by its condition: a plain set wins, an `update` or transaction is dropped and reported.
        case queueing
    }

    /// The URLs of the members, such as `http://127.0.0.1:2379`; the first that answers is used until it doesn't.
    public var endpoints: [String]
    /// What the keys of all stores begin with; a name's key is `prefix/suite/name`.
    public var prefix = "preferences"
    /// The user, where the cluster demands one.
    public var credentials: EtcdCredentials?
    /// Certificates for `https` endpoints; nil trusts what the system trusts.
    public var tls: EtcdTLS?
    /// How long a read of all, or a write, is tried over every endpoint; the last answer may take `attemptTimeout` more.
    public var timeout = Duration.seconds(10)
    /// How long one endpoint may take to answer before the next is tried.
    public var attemptTimeout = Duration.seconds(2)
    /// After how long a silence the member that watches is asked whether anything was missed.
    public var probeInterval = Duration.seconds(10)
    /// What a write does while no endpoint can be reached.
    public var offlineWrites = OfflineWrites.failing
    /// A file to keep a copy of all values in, so that a program can start while no endpoint can be reached.
    ///
    /// Nil: such a start reports an error and reads give defaults until an endpoint answers. It is a file of the file
    /// store's form, with its folder made where there is none, and holds nothing but a copy.
    public var cacheFile: URL?
    /// The server's `--max-txn-ops`; at least 4.
    public var maximumOperations = 128

    /// Makes a configuration for a cluster.
    public init(endpoints: [String]) {
        self.endpoints = endpoints
    }
}

/// A user of the cluster.
public struct EtcdCredentials: Sendable, CustomStringConvertible {
    /// The user's name.
    public var user: String
    /// The user's password.
    public var password: String

    /// Makes credentials.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The name alone.
    public var description: String { user }
}
