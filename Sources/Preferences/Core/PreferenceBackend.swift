/// A place where the values of a store are kept, such as a database or a server.
///
/// A backend can be small, because its store handles the cache, the decoded values, and the delivery of changes. The store calls `load`,
/// `catchUp` and `change` one at a time, so state that only these use needs no lock. Only the store calls the backend, and a backend belongs to
/// one store. An error other than a `PreferenceError` becomes `unavailable`.
///
/// Each call ends at its deadline: it then throws `busy` if others have the place, or `unavailable` if that can't be reached. The deadline of
/// a property set is a tenth of a second; one that isn't stored by then is shown, and stored by a later call.
public protocol PreferenceBackend: AnyObject, Sendable {
    /// The place for messages: a path, an address.
    var place: String { get }

    /// The longest that a call of the store takes, from its begin to its end; 5 seconds by default. Read once.
    var timeout: Duration { get }

    /// Whether `catchUp` and `change` never wait, or throw `PreferenceDeadline.WouldWait` before they do if their deadline is now; false by
    /// default. Read once.
    ///
    /// Otherwise no deadline is now, and an `async` method of the store never calls the backend on the task's own thread.
    var saysWhenItWaits: Bool { get }

    /// Whether `change` could store something now, as far as the backend knows without trying; true by default.
    ///
    /// Called on any thread, also during another call. It waits for nothing and changes nothing.
    var isWritable: Bool { get }

    /// Opens the place and returns all stored values; of several changes of a name, the last one counts.
    ///
    /// Called before `catchUp` and `change`, and again if it failed. From then on, the backend calls `host.changed()` whenever there may be
    /// something new. It reports values that can't be read by `host.report`, and keeps them.
    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws -> [StoredChange]

    /// Returns what others have changed since the last call of `load`, `catchUp` or `change`.
    func catchUp(until deadline: PreferenceDeadline) throws -> ExternalChanges

    /// Returns what others have changed by now, also what the backend wasn't notified of: for `PreferenceStore.load()` of an open store.
    ///
    /// For a backend that is notified over a network. By default it calls `catchUp`.
    func refresh(until deadline: PreferenceDeadline) throws -> ExternalChanges

    /// Passes what others have changed since the last call to `body`, and stores the changes that it returns: all, or nothing.
    ///
    /// While no other process can change the place; then `body` runs once. A place that can't be locked stores the changes only if it is
    /// still as `body` saw it, at least in their names and those of `host.reads`; else it calls `body` again, with what changed since. A change
    /// may be to the value that is stored already. If `body` throws, nothing is stored and the error is thrown on. When it returns, the changes
    /// survive the death of the process.
    ///
    /// - Throws: `busy` or `unavailable` at the deadline, or another error if nothing was stored (but see
    ///   `PreferenceError.Code.outcomeUnknown`).
    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws

    /// Blocks until all that was stored survives a loss of power; does nothing by default.
    ///
    /// Called on any thread, also during another call: soon after changes, and by `PreferenceStore.flush()`.
    func sync(until deadline: PreferenceDeadline) throws
}

extension PreferenceBackend {
    /// Returns 5 seconds.
    public var timeout: Duration { .seconds(5) }

    /// Returns false.
    public var saysWhenItWaits: Bool { false }

    /// Returns true.
    public var isWritable: Bool { true }

    /// Calls `catchUp`.
    public func refresh(until deadline: PreferenceDeadline) throws -> ExternalChanges { try catchUp(until: deadline) }

    /// Does nothing.
    public func sync(until deadline: PreferenceDeadline) throws {}
}

/// A name and its new value; nil removes it.
public struct StoredChange: Sendable {
    /// The name.
    public let name: String
    /// The value; nil if the name is removed.
    public let value: PropertyListValue?
    /// The node of the name, if that is known, so that its entry needn't be searched.
    unowned(unsafe) let node: Node?

    /// Creates a change.
    public init(_ name: String, _ value: PropertyListValue?) { self.init(name, value, nil) }

    init(_ name: String, _ value: PropertyListValue?, _ node: Node?) {
        (self.name, self.value, self.node) = (name, value, node)
    }
}

/// The external changes that a backend has read since the last ones.
public enum ExternalChanges: Sendable {
    /// Nothing was changed.
    case none
    /// Transactions of others, in their order.
    case changes([[StoredChange]])
    /// Transactions, after which the place has another content: exactly the values of these.
    case contents(after: [[StoredChange]], [StoredChange])
}

/// The connection from a backend to its store; `changed` and `report` may be called on any thread.
public struct PreferenceBackendHost: Sendable {
    /// Has the store call `catchUp` soon, or `load` if that failed before; returns at once.
    public let changed: @Sendable () -> Void
    /// Reports an error that can't be thrown, such as a damaged value, to the store's issue handler.
    public let report: @Sendable (PreferenceError) -> Void
    /// Returns the names that the changes of the last body depend on, besides their own; nil for all. Called in `change`.
    public let reads: @Sendable () -> Set<String>?
    /// The source, for the library's own backends that observe a framework, and for tests.
    weak let source: Source?

    /// Creates a host, for tests of a backend.
    public init(
        changed: @escaping @Sendable () -> Void,
        report: @escaping @Sendable (PreferenceError) -> Void,
        reads: @escaping @Sendable () -> Set<String>? = { nil }
    ) {
        (self.changed, self.report, self.reads, source) = (changed, report, reads, nil)
    }

    init(_ source: Source) {
        changed = { [weak source] in source?.lookLater() }
        report = { [weak source] in source?.reportAfterTurn($0) }
        reads = { [weak source] in source?.readNames }
        self.source = source
    }

    /// Shows at once what the backend has noticed, on this thread, unless that needs a long wait.
    func lookHere() { if let source { source.lookHere() } else { changed() } }

    /// Does the same as `changed` on the calling thread, unless another one uses the store.
    package func changedNow() { source?.lookIfFree() }
}

/// The requirements of the library's own backends alone.
package protocol Backend: PreferenceBackend {
    /// Whether a call may wait, for another process or a network; else there is nothing to open, to sync or to catch up with.
    var mayWait: Bool { get }

    /// The longest of a call that no caller waits for; less than `timeout` if the system might ask the user meanwhile. Read once.
    var unattendedTimeout: Duration { get }

    /// Whether a read must look for external changes first; nil, the default, for a place that notifies of them. Called on any thread.
    var isStale: Bool? { get }

    /// The values that are stored and can't be read now, as locked items of a keyring; each with the reason. Called on any thread.
    var locked: [String: PreferenceError] { get }

    /// Whether it is asked for single names, and its framework may call observers from inside a read or a set.
    var isKeyed: Bool { get }

    /// Whether `change` gets values, too, that are stored already.
    var storesEqualValues: Bool { get }

    /// The sources that a backend over another store uses.
    var below: [Source] { get }

    /// The name of the place where other programs of the user can read the values as plain text, so that a secret there is reported.
    var plainTextPlace: String? { get }

    /// Returns the values of some names of a keyed place, or of those that have changed if the names are nil. A name that it leaves out is
    /// asked for again at its next use.
    ///
    /// Called without the turn, so what it returns counts only if no change was published since; it must see what `change` has got, also
    /// before `finish`. If it throws, the names that have changed are returned by a later call.
    func values(for names: [String]?) throws(PreferenceError) -> [StoredChange]

    /// Passes what `change` has got to the framework of a keyed place. Called when the thread has no turn, maybe on several at once.
    func finish()

    /// Does what can be done later, such as a compaction; called a while after changes, in the turn.
    ///
    /// - Parameters:
    ///   - names: The number of values.
    ///   - publish: Shows what it learns of others.
    /// - Returns: When to call it again, if at all.
    func tidy(names: Int, _ publish: (ExternalChanges) -> Void) throws(PreferenceError) -> Duration?

    /// The values that can't be read of the place, each reported once. Asked in the turn.
    var problems: [PreferenceError] { get }

    /// Why a part of the place can't be read now, for calls that can throw. Asked in the turn.
    var readingError: PreferenceError? { get }

    /// Returns where the value of a name is stored, or all are, for messages. Called on any thread, without the turn.
    func describe(_ name: String?) -> StoredPlace
}

/// The place of a stored value, for messages.
package struct StoredPlace: Sendable {
    /// The file.
    package var path: String?
    /// The number of the file's line that last set the name, from 1.
    package var line: Int?
    /// Whether an administrator manages the name in a place that has other names, too.
    package var isManaged = false
    /// Whether only people write the place, so that messages don't advise to set a value.
    package var isWrittenByHand = false

    package init(path: String? = nil, line: Int? = nil, isManaged: Bool = false, isWrittenByHand: Bool = false) {
        (self.path, self.line, self.isManaged, self.isWrittenByHand) = (path, line, isManaged, isWrittenByHand)
    }
}

extension Backend {
    package var mayWait: Bool { true }
    package var unattendedTimeout: Duration { timeout }
    package var isStale: Bool? { nil }
    package var locked: [String: PreferenceError] { [:] }
    package var isKeyed: Bool { false }
    package var storesEqualValues: Bool { false }
    package var below: [Source] { [] }
    package var plainTextPlace: String? { nil }
    package func values(for names: [String]?) throws(PreferenceError) -> [StoredChange] { [] }
    package func finish() {}
    package func tidy(names: Int, _ publish: (ExternalChanges) -> Void) throws(PreferenceError) -> Duration? { nil }
    package var problems: [PreferenceError] { [] }
    package var readingError: PreferenceError? { nil }
    package func describe(_ name: String?) -> StoredPlace { StoredPlace() }
}

/// Keeps nothing but what its source keeps, and rejects what a file would.
package final class MemoryBackend: Backend {
    package let place = "memory"
    package let mayWait = false
    package let saysWhenItWaits = true
    private let contents: [StoredChange]

    package init(_ contents: [StoredChange] = []) { self.contents = contents }

    package func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] { contents }
    package func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

    package func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        try JSONLine.check(try body(.none))
    }
}

/// A place that can't be had.
final class NoBackend: Backend {
    let place = "no place"
    let isWritable = false
    private let error: PreferenceError

    init(_ error: PreferenceError) { self.error = error }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws -> [StoredChange] { throw error }
    func catchUp(until deadline: PreferenceDeadline) throws -> ExternalChanges { throw error }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        throw error
    }
}
