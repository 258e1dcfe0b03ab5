internal import CPreferences
internal import Synchronization

/// A backend, its values, and the stores that show them.
///
/// The turn covers everything that calls the backend: what others changed is read only in a turn and published before it ends, so the values
/// and the backend's place agree whenever the turn is free. A value that a property has set while the turn, or the place, couldn't be had is
/// *kept*: it shows at once, and is stored when the turn ends.
package final class Source: @unchecked Sendable {  // `turn` or the publish lock guards each property, as said there
    let backend: any PreferenceBackend
    /// The same if it is one of the library's.
    let own: (any Backend)?
    let turn = Turn()
    let publishing = PublishLock()
    let process = Process.current
    private let generation = preferences_generation()
    /// The tasks that wait to change it, one after another.
    let tasks = TaskQueue()
    /// The time of a call, which begins when it first waits.
    package let timeout: PreferenceDeadline
    /// The time of a call that no caller waits for.
    let unattended: PreferenceDeadline
    // Asked once: a call of a protocol's witness costs 30 instructions.
    let mayWait: Bool
    package let isKeyed: Bool
    let storesEqualValues: Bool
    /// Whether a call can be tried without waiting, by a deadline of now.
    package let saysWhenItWaits: Bool
    /// Whether a read must look for external changes before it, if what was read last is too old.
    package let goesStale: Bool
    /// The handler of the store that was created over the source.
    let issues = IssueReporter()

    // Guarded by the publish lock.
    @exclusivity(unchecked) var table = Table()
    @exclusivity(unchecked) var views = Views()
    @exclusivity(unchecked) var keptEntries: [Entry] = []
    /// The external changes that aren't shown, as they aren't valid; updates read them.
    @exclusivity(unchecked) var unshown: [String: PropertyListValue?] = [:]
    /// The number of the last keeping.
    @exclusivity(unchecked) var keptNumber = 0
    /// Why the backend could not be opened, or what is kept not be stored.
    @exclusivity(unchecked) private var failure: PreferenceError?
    /// The reads of a keyed backend that are on their way.
    @exclusivity(unchecked) var reads: [KeyedRead] = []
    /// The names whose reads have failed.
    @exclusivity(unchecked) var unread: Set<String> = []
    /// The entries whose names a keyed backend was asked for since the last time when all might have changed, and those from before that no
    /// thread has looked at yet.
    @exclusivity(unchecked) var current: [Entry] = []
    @exclusivity(unchecked) var outdated: [Entry] = []
    @exclusivity(unchecked) private var reporters: [Reporter] = []
    /// The secret names that stores over it have declared, as it spells them.
    @exclusivity(unchecked) private var secretNames: Set<String> = []

    private struct Reporter { weak var reporter: IssueReporter? }

    let hasKept = Atomic<Bool>(false)
    /// Whether a timer is going to store what is kept, so that properties needn't try.
    let isRetrying = Atomic<Bool>(false)
    private enum Phase: UInt8 { case closed, failed, open }
    private let phase = Atomic<UInt8>(Phase.closed.rawValue)
    /// Whether each change waits for the medium, from when on it is set.
    let syncsEachChange = Atomic<Bool>(false)
    /// Whether a look for external changes is due.
    let isLookQueued = Atomic<Bool>(false)
    /// Whether a look that failed is going to be repeated.
    let isLookRepeated = Atomic<Bool>(false)
    /// Whether a sync is due.
    let isSyncQueued = Atomic<Bool>(false)

    // Guarded by the turn.
    var pause: Int64 = 0
    var isTidying = false
    /// The nanoseconds from which a body is reported.
    var longBody: Int64 = 1_000_000_000
    private var problems: [String] = []
    /// The names that the body of the current change has read, for a program's backend; nil for all.
    var readNames: Set<String>? = []

    package init(_ backend: any Backend) {
        (self.backend, own, timeout) = (backend, backend, .period(backend.timeout))
        unattended = .period(backend.unattendedTimeout)
        (mayWait, isKeyed, goesStale) = (backend.mayWait, backend.isKeyed, backend.isStale != nil)
        storesEqualValues = backend.storesEqualValues
        saysWhenItWaits = backend.saysWhenItWaits
        if !mayWait { phase.store(Phase.open.rawValue, ordering: .relaxed) }
    }

    /// Creates a source over a backend of a program.
    init(custom backend: any PreferenceBackend) {
        (self.backend, own, timeout) = (backend, nil, .period(backend.timeout))
        // The stored value may be newer than the shown one: the backend compares them.
        (unattended, mayWait, isKeyed, goesStale, storesEqualValues) = (timeout, true, false, false, true)
        saysWhenItWaits = backend.saysWhenItWaits
    }

    /// Creates a source in memory.
    convenience init(_ contents: [String: PropertyListValue]) {
        self.init(MemoryBackend())
        publishing.withLock {
            for (name, value) in contents { _ = table.set(table.entry(adding: name), to: value) }
        }
    }

    /// Whether the process is a child of `fork`, which has no thread that could finish what others began.
    var isForeign: Bool { generation != preferences_generation() }

    var misuse: PreferenceError {
        PreferenceError(
            .misuse,
            "the process was created by fork and uses a store of its parent; nothing was changed. Request the store again, or call exec"
        )
    }

    // MARK: Issues

    /// Has the handler of a store that shows the source hear of each issue.
    func add(_ reporter: IssueReporter) {
        publishing.withLock {
            // Those that are gone are removed when the list would grow, so an addition takes constant time.
            if reporters.count == reporters.capacity { reporters.removeAll { $0.reporter == nil } }
            reporters.append(Reporter(reporter: reporter))
        }
    }

    /// Reports to the source's own handler, or without one to those of all stores that show it.
    func report(_ error: PreferenceError) { for handler in handlers { handler.report(error) } }

    var handlers: [IssueReporter] {
        if issues.hasHandler { return [issues] }
        let all = publishing.withLock { reporters.compactMap(\.reporter) }
        let handling = all.filter(\.hasHandler)
        return handling.isEmpty ? [issues] : handling
    }

    /// Returns the file of a name's value, or of all, and the line, for messages; nil if it isn't in a file. Call without a turn or a lock.
    package func location(of name: String?) -> String? {
        guard let place = own?.describe(name), let path = place.path else { return nil }
        return path + (place.line.map { ", line \($0)" } ?? "")
    }

    // MARK: Secrets

    func noteSecret(_ key: String) { publishing.withLock { _ = secretNames.insert(key) } }

    func isSecret(_ key: String) -> Bool { publishing.withLock { secretNames.contains(key) } }

    // MARK: The turn

    var isOpen: Bool { phase.load(ordering: .acquiring) == Phase.open.rawValue }
    var isClosed: Bool { phase.load(ordering: .acquiring) == Phase.closed.rawValue }
    package var openingError: PreferenceError? { isOpen ? nil : publishing.withLock { failure } }

    /// Runs `body` in a turn, then delivers what it has published, unless the thread has another turn: then at the end of that one.
    func inTurn<Result>(
        until deadline: PreferenceDeadline,
        _ body: (inout Effects, PreferenceDeadline) throws -> Result
    ) throws -> Result {
        if isForeign { throw misuse }
        var deadline = deadline
        if !turn.tryEnter(), !turn.enter(until: deadline.start()) {
            if turn.isMine {
                throw PreferenceError(
                    .misuse,
                    "a store is changed inside the body of its own update or transaction; nothing was changed. Change the body's argument "
                        + "instead"
                )
            }
            throw deadline.isNow ? PreferenceDeadline.WouldWait() as any Error : busy
        }
        let thread = preferences_state()
        thread.pointee.turns += 1
        var effects = Effects()
        let result: Result
        do { result = try body(&effects, deadline) } catch {
            leave(thread, &effects)
            throw error
        }
        leave(thread, &effects)
        return result
    }

    private func leave(_ thread: UnsafeMutablePointer<preferences_thread_state>, _ effects: inout Effects) {
        thread.pointee.turns -= 1
        if turn.leave() { storeKept(&effects) }
        effects.run(self, thread)
    }

    var busy: PreferenceError {
        PreferenceError(
            .busy,
            "\(backend.place) was in use by other calls for \(backend.timeout); nothing was changed. Try again"
        )
    }

    /// Whether the thread has the turn, or one of a source that the backend uses.
    var isInTurn: Bool { turn.isMine || isBelowInTurn }
    var isBelowInTurn: Bool { own?.below.contains(where: \.isInTurn) ?? false }

    // MARK: Opening

    /// Opens the backend unless it is open; throws if that fails.
    ///
    /// - Parameter reports: Whether the error is also reported, as the caller might not throw it.
    func open(until deadline: PreferenceDeadline, reports: Bool = true) throws {
        guard !isOpen, !turn.isMine else { return }
        try inTurn(until: deadline) { effects, deadline in
            try open(until: deadline, reports: reports, &effects)
        }
    }

    /// - Parameter isTrial: Whether the deadline is that of a property set, so that a longer one might do.
    func open(
        until deadline: PreferenceDeadline,
        isTrial: Bool = false,
        reports: Bool = true,
        _ effects: inout Effects
    ) throws {
        guard !isOpen else { return }
        if deadline.isNow { throw PreferenceDeadline.WouldWait() }
        process.pool.start()
        let values: [StoredChange]
        do { values = try backend.load(host: host, until: begun(deadline)) } catch {
            let error = PreferenceError(.unavailable, from: error)
            // Another thread may open it, or one with more time.
            if error.code == .misuse || isTrial && (error.isOfOthers || !saysWhenItWaits) { throw error }
            phase.store(Phase.failed.rawValue, ordering: .releasing)
            if note(error), reports { effects.report(error) }
            throw error.ofOpening
        }
        // A keyed backend has other values than those that it was asked for.
        if !isKeyed { publish(.contents(after: [], values), &effects) }
        _ = note(nil)
        phase.store(Phase.open.rawValue, ordering: .releasing)
        noteProblems(&effects)
        if hasKept.load(ordering: .relaxed) { storeOrRetry(until: .now, &effects) }
    }

    /// The deadline of a call of the backend: only the library's own begin a period themselves.
    func begun(_ deadline: PreferenceDeadline) -> PreferenceDeadline {
        var deadline = deadline
        return own == nil ? deadline.start() : deadline
    }

    /// Notes why the place can't be used; returns whether that is new.
    func note(_ error: PreferenceError?) -> Bool {
        publishing.withLock {
            defer { failure = error }
            return error != nil && failure?.message != error?.message
        }
    }

    /// Reports the problems that are new.
    func noteProblems(_ effects: inout Effects) {
        let all = own?.problems ?? []
        if all.isEmpty, problems.isEmpty { return }
        for problem in all where !problems.contains(problem.description) { effects.report(problem) }
        problems = all.map(\.description)
    }

    // MARK: Changing

    /// The changes to store, and the last subscription that was notified before.
    typealias Decision = (changes: [StoredChange], announced: UInt64)

    /// Changes the stored values by what `body` returns, which runs in the turn, and for a file under its lock; it may throw any error.
    func change(
        until deadline: PreferenceDeadline,
        isTrial: Bool = false,
        _ body: (inout Effects) throws -> Decision
    ) throws {
        try inTurn(until: deadline) { effects, deadline in
            var deadline = deadline
            if !isOpen { try open(until: deadline.start(), isTrial: isTrial, &effects) }
            try store(until: deadline, &effects, body)
        }
    }

    /// Stores what is kept and what `body` returns as one change; call in the turn.
    func store(
        until deadline: PreferenceDeadline,
        _ effects: inout Effects,
        _ body: (inout Effects) throws -> Decision
    ) throws {
        var (stored, announced, limit): ([StoredChange], UInt64, Int) = ([], 0, 0)
        let syncs = syncsEachChange.load(ordering: .relaxed)
        if syncs, deadline.isNow { throw PreferenceDeadline.WouldWait() }
        try backend.change(until: begun(deadline)) { update in
            publish(update, &effects)
            readNames = []
            limit = hasKept.load(ordering: .relaxed) ? publishing.withLock { keptNumber } : 0
            (stored, announced) = try body(&effects)
            // The body might have forked.
            if isForeign { throw misuse }
            if limit > 0 {
                // Within the lock: new names of stores change the table, too.
                publishing.withLock { addKept(limit, to: &stored) }
            } else if mayWait, !storesEqualValues, own?.locked.isEmpty ?? true {
                // Nothing is shown of a locked value, which a removal concerns.
                publishing.withLock { dropStored(&stored) }
            }
            return stored
        }
        if !stored.isEmpty { publish(stored, announced, limit, &effects) }
        if limit > 0 {
            publishing.withLock { failure = nil }
            process.noteKeeping(self)
        }
        if mayWait, !stored.isEmpty { tidyAfterChange(&effects) }
        // The values are shown already, and stay if this fails.
        if syncs, !stored.isEmpty { try backend.sync(until: begun(deadline)) }
    }

    /// Notes what the body of the change has read, nil for all names, if the backend might compare it.
    func noteRead(_ names: @autoclosure () -> Set<String>?) {
        if own == nil, turn.isMine { readNames = names() }
    }

    /// Removes what is stored already, for a place where storing takes time.
    private func dropStored(_ changes: inout [StoredChange]) {
        if changes.count != 1 { return changes.removeAll(where: isStored) }
        if isStored(changes[0]) { changes = [] }
    }

    private func isStored(_ change: StoredChange) -> Bool {
        guard let entry = entry(of: change) else { return change.value == nil && !isKeyed }
        return entry.value == change.value && entry.kept == nil && (!isKeyed || entry.isKnown)
    }

    /// The entry of an own change.
    func entry(of change: StoredChange) -> Entry? {
        if let entry = change.node?.plain { return entry }
        return table.entry(change.name)
    }
}
