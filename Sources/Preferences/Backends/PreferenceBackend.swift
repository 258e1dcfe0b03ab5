internal import DurableFile

/// What a store keeps its values in.
///
/// A backend is small: the store above it owns the cache, the decoded values and the delivery of changes. The store
/// calls `load`, `refresh` and `apply` one at a time, never two at once, so a backend needs no lock for what only these
/// touch. They block the calling thread, as `sync` and `didApply` do. The store is what calls; a backend is used by one store.
public protocol PreferenceBackend: Sendable {
    /// How long one call of the store may take, with opening the backend and waiting for other calls of it; `nil`, the default,
    /// if the backend's calls are short.
    ///
    /// A backend that waits for a network has a timeout. Then the store's `async` methods suspend while threads of the library
    /// call the backend; without a timeout they call it on the caller's thread, as the blocking methods do. A call that has not
    /// begun at the backend when its time is over throws `unavailable`. A call that has begun is not interrupted: it ends by
    /// `PreferenceBackendHost.deadline`. Read once, when the store is created.
    var timeout: Duration? { get }

    /// Throws `misuse` if the calling thread must never be blocked, as that of an event loop.
    ///
    /// Called for a backend with a timeout, before a blocking method of the store opens or changes it on the calling thread, and
    /// never on a thread of the library. The method throws the error, or reports it if it can't throw. The default does nothing.
    func checkThreadMayBlock() throws(PreferencesError)

    /// Everything stored now; called before `refresh` and `apply`, again if it failed.
    ///
    /// From then on the backend calls `host.changed()` whenever somebody else may have changed something. What can't be
    /// read is reported with `host.report` and left where it is.
    func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue]

    /// What others changed since the last `load`, `refresh` or `apply` told; a nil value means removed.
    ///
    /// Values that the store shows already are no changes, so they may be told again; but never one that is outdated.
    func refresh() throws(PreferencesError) -> [String: PropertyListValue?]

    /// Stores all of `changes` or nothing; a nil value removes.
    ///
    /// Stores those changes that differ from what is stored, unless `condition` is not true of it. Returns as `outside` what
    /// others changed before, at least under the names of `changes` and of the condition; the rest may be returned by
    /// `refresh` after a later `host.changed()`, but nothing that is older than these changes under their names. When it
    /// returns, the changes survive the death of the process. An error means that nothing was stored (but see
    /// `PreferencesError.Code.outcomeUnknown`); outside changes learned before it are returned by the next call of
    /// `refresh` or `apply`.
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit

    /// Blocks until everything applied so far survives a loss of power.
    ///
    /// Called on any thread, also while another call is running: `PreferenceStore.flush()` does so on a thread of the library.
    func sync() throws(PreferencesError)

    /// As `sync`, and throws `notDurable` if that is not done at the deadline; `nil` for none.
    ///
    /// The deadline of a flush is its start plus `timeout`. The default calls `sync`.
    func sync(until deadline: ContinuousClock.Instant?) throws(PreferencesError)

    /// Called after an `apply` that stored something, outside of every lock, on the setting thread.
    ///
    /// A backend that promises durability at once blocks here until it holds, and throws `notDurable` if it can't. The default
    /// does nothing.
    func didApply() throws(PreferencesError)

    /// Returns whether an administrator decides about the name, so that `apply` would refuse it; by default false.
    func isManaged(_ name: String) -> Bool

    /// Returns the values under names that are in use from now on, for a backend that doesn't tell of all it has in `load`; by
    /// default nothing.
    ///
    /// Asked once for each name, after `load`, before the name is first read, set or observed, and never at the same time as
    /// `refresh` and `apply`. It has not been read before, so its value is no change.
    func values(for names: Set<String>) -> [String: PropertyListValue]
}

extension PreferenceBackend {
    /// None.
    public var timeout: Duration? { nil }

    /// Does nothing.
    public func checkThreadMayBlock() throws(PreferencesError) {}

    /// Calls `sync()`.
    public func sync(until deadline: ContinuousClock.Instant?) throws(PreferencesError) { try sync() }

    /// Does nothing.
    public func didApply() throws(PreferencesError) {}

    /// False.
    public func isManaged(_ name: String) -> Bool { false }

    /// Nothing beyond what `load` told.
    public func values(for names: Set<String>) -> [String: PropertyListValue] {
        // Marks, under a name that none can have, that this is the default: such a backend need not be asked, which would
        // have to wait for its turn. A flag would have to be set beside each implementation.
        Self.nothingMore
    }

    static var nothingMore: [String: PropertyListValue] { ["": .boolean(false)] }
}

/// What must still hold for a set of changes to be stored.
public struct PreferenceCondition: Sendable {
    /// What each of these names must still hold; nil means absent.
    public var values: [String: PropertyListValue?]
    /// Whether names that begin with `prefix` and are not listed must be absent.
    public var isComplete: Bool
    /// Begins the names that a complete condition is about; empty for all names.
    public var prefix: String

    /// Creates a condition.
    public init(values: [String: PropertyListValue?], isComplete: Bool = false, prefix: String = "") {
        self.values = values
        self.isComplete = isComplete
        self.prefix = prefix
    }

    /// The condition of a scope's names, as its store has them.
    func prefixed(_ prefix: String) -> PreferenceCondition {
        guard !prefix.isEmpty, !isNone else { return self }
        return PreferenceCondition(
            values: values.prefixed(prefix),
            isComplete: isComplete,
            prefix: prefix + self.prefix
        )
    }

    /// The condition that is always true.
    public static let none = PreferenceCondition(values: [:])

    /// Whether it is always true.
    var isNone: Bool { values.isEmpty && !isComplete }

    /// Whether the condition is true of `contents`.
    public func holds(for contents: [String: PropertyListValue]) -> Bool {
        values.allSatisfy { name, expected in contents[name] == expected } && isComplete(for: contents.keys)
    }

    func holds(for contents: borrowing ValueTable) -> Bool {
        for (name, expected) in values where contents[name] != expected { return false }
        return !isComplete || isComplete(for: contents.names)
    }

    private func isComplete(for names: some Collection<String>) -> Bool {
        guard isComplete else { return true }
        return names.allSatisfy { name in
            // The prefix alone is no name of a scope.
            values[name] != nil || !prefix.isEmpty && name.droppingPrefix(prefix)?.isEmpty ?? true
        }
    }
}

extension String {
    /// The rest of a name that begins with a prefix, however its characters are composed; `nil` for another name.
    func droppingPrefix(_ prefix: String) -> String? {
        if utf8.starts(with: prefix.utf8) { return String(utf8.dropFirst(prefix.utf8.count)) }
        return hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}

/// What came of a call of `apply`.
public struct PreferenceBackendCommit: Sendable {
    /// What others had changed before; a nil value means removed.
    public var outside: [String: PropertyListValue?]
    /// Whether the condition was true, so that the changes are stored now.
    public var isStored: Bool

    /// Makes a result.
    public init(outside: [String: PropertyListValue?] = [:], isStored: Bool) {
        self.outside = outside
        self.isStored = isStored
    }
}

/// How a backend reaches the store that uses it; all calls are allowed on any thread.
public struct PreferenceBackendHost: Sendable {
    /// Says that `refresh` may find something; returns at once or after the store took the changes in.
    public let changed: @Sendable () -> Void
    /// Reports what can't be thrown, such as a damaged line; it reaches the store's issue handler.
    public let report: @Sendable (PreferencesError) -> Void
    /// When the call of `load`, `refresh` or `apply` that is under way must have ended; `nil` if nobody waits for it, and for a
    /// backend without a timeout.
    ///
    /// The start of the store's call plus the backend's `timeout`.
    public let deadline: @Sendable () -> ContinuousClock.Instant?
    /// Says that any value may be stale, so that a backend with `values(for:)` is asked for each before it is read again.
    package let outdated: @Sendable () -> Void

    /// Makes a host, as tests of a backend need.
    public init(
        changed: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (PreferencesError) -> Void,
        deadline: @escaping @Sendable () -> ContinuousClock.Instant? = { nil }
    ) {
        self.init(changed: changed, report: report, deadline: deadline) {}
    }

    package init(
        changed: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (PreferencesError) -> Void,
        deadline: @escaping @Sendable () -> ContinuousClock.Instant?,
        outdated: @escaping @Sendable () -> Void
    ) {
        self.changed = changed
        self.report = report
        self.deadline = deadline
        self.outdated = outdated
    }
}

/// The backend of a store that can't be made, as where the path of its file can't be told.
struct NoBackend: PreferenceBackend {
    let error: PreferencesError

    init(because error: PreferencesError) { self.error = error }

    func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] { throw error }
    func refresh() throws(PreferencesError) -> [String: PropertyListValue?] { throw error }
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit { throw error }
    func sync() throws(PreferencesError) { throw error }
}

/// Keeps values in memory, for tests and previews; they end with the store.
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
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        try contents.withLock { contents throws(PreferencesError) in
            guard condition.holds(for: contents) else { return PreferenceBackendCommit(isStored: false) }
            // What a file would reject, so that a test in memory shows it.
            try JSONLine.check(.several(changes))
            for (name, value) in changes { contents[name] = value }
            return PreferenceBackendCommit(isStored: true)
        }
    }

    package func sync() {}
}
