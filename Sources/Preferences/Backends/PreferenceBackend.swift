internal import DurableFile

/// The storage of a store's values.
///
/// A backend can be small, because its store handles the cache, the decoded values and the delivery of changes. It passes the
/// changes that others make to its `PreferenceBackendHost`, in their order. The store never calls `load`, `catchUp` and `apply` at
/// the same time, so state that only these use needs no lock. They block the calling thread, as `sync` and `didApply` do. Only the
/// store calls the backend, and a backend belongs to one store.
public protocol PreferenceBackend: Sendable {
    /// The time that one call of the store may take, including opening the backend and waiting for other calls; `nil`, the
    /// default, if the backend's calls are short.
    ///
    /// A backend that waits for a network has a timeout. The store's `async` methods then suspend while threads of the library
    /// call the backend; without a timeout they call it on the caller's thread, as the blocking methods do. A call that has not
    /// begun at the backend when its time is over throws `unavailable`. A call that has begun is not interrupted; the backend
    /// ends it by `PreferenceBackendHost.deadline`. Read once, when the store is created.
    var timeout: Duration? { get }

    /// Whether `load` returns all values, and later changes of them are passed to the host; true by default.
    ///
    /// If not, the store calls `values(for:)` for each name that it uses. Read once, when the store is created.
    var listsAllNames: Bool { get }

    /// Whether `apply` could store changes now, as far as the backend knows without trying; true by default.
    ///
    /// Called on any thread, also during another call, by `PreferenceStore.isWritable`. It waits for no network and changes
    /// nothing.
    var isWritable: Bool { get }

    /// Throws `misuse` if the calling thread must never be blocked, such as that of an event loop.
    ///
    /// Called for a backend with a timeout, before a blocking method of the store opens, changes or syncs it on the calling
    /// thread, and never on a thread of the library. The method throws the error, or reports it if it can't throw. The default does
    /// nothing.
    func checkThreadMayBlock() throws(PreferenceError)

    /// Returns all stored values. Called before `catchUp` and `apply`, and again if it failed.
    ///
    /// From then on the backend passes each change by another process or program to the host, by `changed`, and none that
    /// these values contain. After it failed, `host.changed()` lets the store call it again. It reports values that can't be read
    /// by `host.report`, and keeps them.
    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue]

    /// Finds the external changes so far and passes them to the host, by `collect`.
    ///
    /// Called by `PreferenceStore.load()` of an open store, and after `host.changed()` without changes. The default does nothing.
    func catchUp() throws(PreferenceError)

    /// Stores all of `changes` or nothing; a nil value removes the name.
    ///
    /// If `condition` is true of the stored values, stores the changes that differ from these. Before it returns, it passes the
    /// earlier external changes to the host, by `collect`: at least those of the names in `changes` and in the condition. Changes
    /// that are passed on later count as later ones, unless `PreferenceBackendHost.noteApplied` says when these were stored. When it
    /// returns, the changes survive the death of the process.
    ///
    /// - Throws: An error if nothing was stored (but see `PreferenceError.Code.outcomeUnknown`).
    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit

    /// Blocks until everything applied so far survives a loss of power.
    ///
    /// Called on any thread, also during another call and several times at once: by `PreferenceStore.flush()` on the caller's
    /// thread, and by its `async` form on a thread of the library. The default does nothing, for a backend whose changes do so when
    /// `apply` returns.
    func sync() throws(PreferenceError)

    /// Syncs as `sync` does, and throws `notDurable` if that isn't finished at the deadline; `nil` for none.
    ///
    /// The deadline of a flush is its start plus `timeout`. The default calls `sync`.
    func sync(until deadline: ContinuousClock.Instant?) throws(PreferenceError)

    /// Ensures the promised durability of an `apply` that stored changes. Called without any lock on the thread of the write.
    ///
    /// A backend that promises immediate durability blocks here until the changes survive a loss of power, and throws
    /// `notDurable` if that fails. The default does nothing.
    func didApply() throws(PreferenceError)

    /// Returns whether an administrator manages the name, so that `apply` would reject changes of it; false by default.
    func isManaged(_ name: String) -> Bool

    /// Returns the values under names that are in use from now on, for a backend that doesn't list all names; nothing by default.
    ///
    /// Called once for each name, and again after `PreferenceBackendHost.outdated`: after `load`, before the name is read, set or
    /// observed, and never at the same time as `catchUp` and `apply`. If the name has not been read before, its value is no change.
    func values(for names: Set<String>) -> [String: PropertyListValue]

    // MARK: Messages

    /// Returns the path of the file with the value of a name, or of any name, for messages; `nil`, the default, if there is none.
    ///
    /// Called on any thread, also during another call.
    func path(of name: String?) -> String?

    /// Returns the number of the file's line that last set a name, from 1; `nil`, the default, if that isn't known.
    ///
    /// Called on any thread, also during another call.
    func line(of name: String) -> Int?

    /// Whether only people write the file, so that messages don't advise to set a value; false by default.
    var isWrittenByHand: Bool { get }

    /// The name of the place where other programs of the user can read the values as plain text, such as "iCloud", so that writing a
    /// preference that was declared secret fails; `nil`, the default, if they can't.
    var plainTextPlace: String? { get }

    // MARK: Locked values

    /// Returns the error because of which the value of a name can't be read now, as that of a locked item of a keychain; `nil`, the
    /// default, if it can be, or if it was read before.
    ///
    /// For a backend that doesn't list all names, and stays open while single values are locked. Reads of the name then throw the
    /// error, and writes fail. Called on any thread, also during another call.
    func failure(of name: String) -> PreferenceError?

    /// The names whose values can't be read now; none by default.
    var lockedNames: Set<String> { get }

    // MARK: Reads that run other code

    /// Whether reading may run any code of the program, as a framework does that notifies its observers on the reading thread;
    /// false by default.
    ///
    /// Such a backend doesn't list all names. It reads in `revalidate`, which is called without a lock and while no other call of the
    /// store waits for it; `values(for:)` and `apply` use what was read then. Read once, when the store is created.
    var isReentrant: Bool { get }

    /// Reads the values stored under some names, which are in use from then on, and passes changes on to the host, by `collect`.
    ///
    /// Called for a reentrant backend, after `load`, on any thread and several times at once. The default does nothing.
    func revalidate(_ names: Set<String>)

    /// Returns whether nothing that may have changed the values of these names has happened since they were read; true by default.
    ///
    /// Called for a reentrant backend.
    func isCurrent(_ names: Set<String>) -> Bool

    /// Writes the changes of the last `apply`, which may run any code of the program.
    ///
    /// Called for a reentrant backend, when other calls may use it again, and before observers are called. The default does nothing.
    func writeApplied()
}

extension PreferenceBackend {
    /// Returns nil.
    public func path(of name: String?) -> String? { nil }

    /// Returns nil.
    public func line(of name: String) -> Int? { nil }

    /// Returns false.
    public var isWrittenByHand: Bool { false }

    /// Returns nil.
    public var plainTextPlace: String? { nil }

    /// Returns nil.
    public func failure(of name: String) -> PreferenceError? { nil }

    /// Returns no names.
    public var lockedNames: Set<String> { [] }

    /// Returns false.
    public var isReentrant: Bool { false }

    /// Does nothing.
    public func revalidate(_ names: Set<String>) {}

    /// Returns true.
    public func isCurrent(_ names: Set<String>) -> Bool { true }

    /// Does nothing.
    public func writeApplied() {}

    /// No timeout.
    public var timeout: Duration? { nil }

    /// Returns true.
    public var listsAllNames: Bool { true }

    /// Returns true.
    public var isWritable: Bool { true }

    /// Does nothing.
    public func checkThreadMayBlock() throws(PreferenceError) {}

    /// Does nothing.
    public func catchUp() throws(PreferenceError) {}

    /// Does nothing.
    public func sync() throws(PreferenceError) {}

    /// Calls `sync()`.
    public func sync(until deadline: ContinuousClock.Instant?) throws(PreferenceError) { try sync() }

    /// Does nothing.
    public func didApply() throws(PreferenceError) {}

    /// Returns false.
    public func isManaged(_ name: String) -> Bool { false }

    /// Returns nothing.
    public func values(for names: Set<String>) -> [String: PropertyListValue] { [:] }
}

/// The outcome of a call of `apply`.
public struct PreferenceBackendCommit: Sendable {
    /// Whether the condition was true, so that the changes are stored.
    public var isStored: Bool

    /// Creates an outcome.
    public init(isStored: Bool = true) {
        self.isStored = isStored
    }
}

/// The connection from a backend to the store that uses it; all members may be called on any thread.
public struct PreferenceBackendHost: Sendable {
    /// Reports an error that can't be thrown, such as a damaged line, to the store's issue handler.
    public let report: @Sendable (PreferenceError) -> Void
    /// Returns the time at which the current call of `load`, `catchUp` or `apply` must have ended; `nil` if no caller waits for
    /// it, and for a backend without a timeout.
    ///
    /// It is the start of the store's call plus the backend's `timeout`.
    public let deadline: @Sendable () -> ContinuousClock.Instant?
    private let add: @Sendable ([String: PropertyListValue?], _ position: Int64?) -> Void
    private let addOwn: @Sendable (_ position: Int64?) -> Void
    private let announce: @Sendable (_ isCatchingUp: Bool) -> Void
    private let invalidate: @Sendable () -> Void
    private let observed: @Sendable (_ includingTracked: Bool) -> Set<String>

    /// Passes external changes to the store and has it publish them: now, or when the thread that uses the backend has finished.
    ///
    /// Call it without a lock, because observers may be called.
    ///
    /// - Parameter changes: The new values; a nil value means removed. A value that the store shows already is no change.
    public func changed(_ changes: [String: PropertyListValue?]) {
        add(changes, nil)
        announce(false)
    }

    /// Has the store call `catchUp`, or `load` if that failed before, and publish the changes: now, or when the thread that uses the
    /// backend has finished.
    ///
    /// Call it without a lock, because observers may be called.
    public func changed() { announce(true) }

    /// Passes external changes to the store, which publishes them at the end of the current call of the backend, or after a call of
    /// `changed`.
    ///
    /// Calls nothing else, so that it may be called under a lock that gives the changes their order.
    ///
    /// - Parameters:
    ///   - changes: The new values; a nil value means removed. A value that the store shows already is no change.
    ///   - position: The position of the changes among all, if the backend numbers these, such as a revision. Changes are published
    ///     before those of a higher position; otherwise in the order of the calls.
    public func collect(_ changes: [String: PropertyListValue?], at position: Int64? = nil) {
        if !changes.isEmpty { add(changes, position) }
    }

    /// Records that the changes of the current `apply` are stored: external changes that are collected from now on are later.
    ///
    /// For a backend that is notified of external changes while `apply` runs. Without it, the changes are stored when `apply`
    /// returns. May be called under a lock, as `collect` may.
    ///
    /// - Parameter position: The position of the changes among all, if the backend numbers these.
    public func noteApplied(at position: Int64? = nil) { addOwn(position) }

    /// Notifies the store that any value may be stale: it calls `values(for:)` for each name before it is read again.
    ///
    /// For a backend that doesn't list all names.
    public func outdated() { invalidate() }

    /// Returns the names whose changes an observer of the store waits for.
    ///
    /// - Parameter includingTracked: Whether also those whose readers Observation may track are returned; it can't be asked, so these
    ///   are all names that were read and have not changed since.
    public func observedNames(includingTracked: Bool) -> Set<String> { observed(includingTracked) }

    /// Creates a host, for tests of a backend.
    ///
    /// - Parameters:
    ///   - changed: Called with external changes, in their order, and with none by `changed()`.
    ///   - report: Called with each reported error.
    ///   - deadline: Returns the deadline of the current call; `nil` by default.
    public init(
        changed: @escaping @Sendable ([String: PropertyListValue?]) -> Void,
        report: @escaping @Sendable (PreferenceError) -> Void,
        deadline: @escaping @Sendable () -> ContinuousClock.Instant? = { nil }
    ) {
        self.init(
            add: { changes, _ in changed(changes) },
            addOwn: { _ in },
            announce: { isCatchingUp in if isCatchingUp { changed([:]) } },
            report,
            deadline
        )
    }

    package init(
        add: @escaping @Sendable ([String: PropertyListValue?], _ position: Int64?) -> Void,
        addOwn: @escaping @Sendable (_ position: Int64?) -> Void,
        announce: @escaping @Sendable (_ isCatchingUp: Bool) -> Void,
        _ report: @escaping @Sendable (PreferenceError) -> Void,
        _ deadline: @escaping @Sendable () -> ContinuousClock.Instant?,
        invalidate: @escaping @Sendable () -> Void = {},
        observed: @escaping @Sendable (_ includingTracked: Bool) -> Set<String> = { _ in [] }
    ) {
        self.add = add
        self.addOwn = addOwn
        self.announce = announce
        self.report = report
        self.deadline = deadline
        self.invalidate = invalidate
        self.observed = observed
    }
}

extension PreferenceError {
    /// Creates the error of changing a file that is only read.
    init(onlyRead path: String) {
        self.init(.readOnly, "\(path) is only read; nothing was changed. Edit it by hand")
    }
}

/// The backend of a store that can't be created, for example because its file's path is unknown.
struct NoBackend: PreferenceBackend {
    let error: PreferenceError

    init(because error: PreferenceError) { self.error = error }

    var isWritable: Bool { false }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] { throw error }
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
}
