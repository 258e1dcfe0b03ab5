internal import DurableFile

/// The storage of a store's values.
///
/// A backend can be small, because its store handles the cache, the decoded values and the delivery of changes. The store never
/// calls `load`, `refresh` and `apply` at the same time, so state that only these use needs no lock. They block the calling
/// thread, as `sync` and `didApply` do. Only the store calls the backend, and a backend belongs to one store.
public protocol PreferenceBackend: Sendable {
    /// The time that one call of the store may take, including opening the backend and waiting for other calls; `nil`, the
    /// default, if the backend's calls are short.
    ///
    /// A backend that waits for a network has a timeout. The store's `async` methods then suspend while threads of the library
    /// call the backend; without a timeout they call it on the caller's thread, as the blocking methods do. A call that has not
    /// begun at the backend when its time is over throws `unavailable`. A call that has begun is not interrupted; the backend
    /// ends it by `PreferenceBackendHost.deadline`. Read once, when the store is created.
    var timeout: Duration? { get }

    /// Throws `misuse` if the calling thread must never be blocked, such as that of an event loop.
    ///
    /// Called for a backend with a timeout, before a blocking method of the store opens, changes or syncs it on the calling
    /// thread, and never on a thread of the library. The method throws the error, or reports it if it can't throw. The default does
    /// nothing.
    func checkThreadMayBlock() throws(PreferenceError)

    /// Returns all stored values. Called before `refresh` and `apply`, and again if it failed.
    ///
    /// From then on the backend calls `host.changed()` whenever another process or program may have changed values. It reports
    /// values that can't be read by `host.report`, and keeps them.
    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue]

    /// Returns the external changes since the last `load`, `refresh` or `apply`; a nil value means removed.
    ///
    /// It may return values again that the store shows already, because these are no changes, but never outdated values.
    func refresh() throws(PreferenceError) -> [String: PropertyListValue?]

    /// Stores all of `changes` or nothing; a nil value removes the name.
    ///
    /// If `condition` is true of the stored values, stores the changes that differ from these. Returns as `outside` the earlier
    /// external changes, at least those of the names in `changes` and in the condition. The other external changes may be
    /// returned by `refresh` after a later `host.changed()`, but for the names in `changes` nothing older than these changes
    /// may be returned. When it returns, the changes survive the death of the process.
    ///
    /// - Throws: An error if nothing was stored (but see `PreferenceError.Code.outcomeUnknown`). External changes found before
    ///   the error are returned by the next call of `refresh` or `apply`.
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit

    /// Blocks until everything applied so far survives a loss of power.
    ///
    /// Called on any thread, also during another call and several times at once: by `PreferenceStore.flush()` on the caller's
    /// thread, and by its `async` form on a thread of the library.
    func sync() throws(PreferenceError)

    /// Syncs as `sync` does, and throws `notDurable` if that isn't finished at the deadline; `nil` for none.
    ///
    /// The deadline of a flush is its start plus `timeout`. The default calls `sync`.
    func sync(until deadline: ContinuousClock.Instant?) throws(PreferenceError)

    /// Ensures the promised durability of an `apply` that stored changes. Called without any lock on the thread of the set.
    ///
    /// A backend that promises immediate durability blocks here until the changes survive a loss of power, and throws
    /// `notDurable` if that fails. The default does nothing.
    func didApply() throws(PreferenceError)

    /// Returns whether an administrator manages the name, so that `apply` would reject changes of it; false by default.
    func isManaged(_ name: String) -> Bool

    /// Returns the values under names that are in use from now on, for a backend whose `load` doesn't return all values;
    /// nothing by default.
    ///
    /// Called once for each name, after `load`, before the name is first read, set or observed, and never at the same time as
    /// `refresh` and `apply`. Because the name has not been read before, its value is no change.
    func values(for names: Set<String>) -> [String: PropertyListValue]
}

extension PreferenceBackend {
    /// No timeout.
    public var timeout: Duration? { nil }

    /// Does nothing.
    public func checkThreadMayBlock() throws(PreferenceError) {}

    /// Calls `sync()`.
    public func sync(until deadline: ContinuousClock.Instant?) throws(PreferenceError) { try sync() }

    /// Does nothing.
    public func didApply() throws(PreferenceError) {}

    /// Returns false.
    public func isManaged(_ name: String) -> Bool { false }

    /// Returns nothing, because `load` returns all values.
    public func values(for names: Set<String>) -> [String: PropertyListValue] {
        // The result marks this default by an impossible name: such a backend need not be queried by name, which would wait for
        // the turn. A separate flag would have to be kept consistent with each implementation.
        Self.nothingMore
    }

    static var nothingMore: [String: PropertyListValue] { ["": .boolean(false)] }
}

/// The outcome of a call of `apply`.
public struct PreferenceBackendCommit: Sendable {
    /// The external changes before the call; a nil value means removed.
    public var outside: [String: PropertyListValue?]
    /// Whether the condition was true, so that the changes are stored.
    public var isStored: Bool

    /// Creates an outcome.
    public init(outside: [String: PropertyListValue?] = [:], isStored: Bool) {
        self.outside = outside
        self.isStored = isStored
    }
}

/// The connection from a backend to the store that uses it; all members may be called on any thread.
public struct PreferenceBackendHost: Sendable {
    /// Notifies the store that `refresh` may return changes. Returns immediately, or after the store has applied the changes.
    public let changed: @Sendable () -> Void
    /// Reports an error that can't be thrown, such as a damaged line, to the store's issue handler.
    public let report: @Sendable (PreferenceError) -> Void
    /// Returns the time at which the current call of `load`, `refresh` or `apply` must have ended; `nil` if no caller waits for
    /// it, and for a backend without a timeout.
    ///
    /// It is the start of the store's call plus the backend's `timeout`.
    public let deadline: @Sendable () -> ContinuousClock.Instant?
    /// Notifies the store that any value may be stale; it calls `values(for:)`, if implemented, for each name before it is read
    /// again.
    package let outdated: @Sendable () -> Void

    /// Creates a host, for tests of a backend.
    public init(
        changed: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (PreferenceError) -> Void,
        deadline: @escaping @Sendable () -> ContinuousClock.Instant? = { nil }
    ) {
        self.init(changed: changed, report: report, deadline: deadline) {}
    }

    package init(
        changed: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (PreferenceError) -> Void,
        deadline: @escaping @Sendable () -> ContinuousClock.Instant?,
        outdated: @escaping @Sendable () -> Void
    ) {
        self.changed = changed
        self.report = report
        self.deadline = deadline
        self.outdated = outdated
    }
}

/// The backend of a store that can't be created, for example because its file's path is unknown.
struct NoBackend: PreferenceBackend {
    let error: PreferenceError

    init(because error: PreferenceError) { self.error = error }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] { throw error }
    func refresh() throws(PreferenceError) -> [String: PropertyListValue?] { throw error }
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit { throw error }
    func sync() throws(PreferenceError) { throw error }
}

/// A backend in memory, for tests and previews; its values end with the store.
package final class MemoryBackend: PreferenceBackend {
    private let contents: Lock<[String: PropertyListValue]>

    package init(_ contents: [String: PropertyListValue] = [:]) {
        self.contents = Lock(contents)
    }

    package func load(host: PreferenceBackendHost) -> [String: PropertyListValue] {
        contents.withLock { $0 }
    }

    package func refresh() -> [String: PropertyListValue?] { [:] }

    package func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        try contents.withLock { contents throws(PreferenceError) in
            guard condition.holds(for: contents) else { return PreferenceBackendCommit(isStored: false) }
            // Rejects what a file would reject, so that tests in memory find it.
            try JSONLine.check(.several(changes))
            for (name, value) in changes { contents[name] = value }
            return PreferenceBackendCommit(isStored: true)
        }
    }

    package func sync() {}
}
