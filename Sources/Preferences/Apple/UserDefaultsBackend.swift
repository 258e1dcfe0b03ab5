#if canImport(Darwin) || STANDINS
internal import Foundation

/// A backend over the own values of a domain of user defaults, which reads the other parts, too.
///
/// Foundation calls observers of user defaults inside `set`, and inside a read that finds changes of another process; these observers may use
/// the store. So user defaults are read and set without a lock or a turn of the store: `change` queues, `finish` writes in the order of the
/// queue. One thread at a time writes; an observer that it calls writes what it queues itself, and a thread that finds another one writing
/// leaves its values to it and doesn't wait.
final class UserDefaultsBackend: Backend {
    /// Creates the observer that reports changes; on Apple platforms a `KeyValueObserver`.
    typealias MakeObserver =
        @Sendable (SharedUserDefaults, @escaping @Sendable (String) -> Void) -> any UserDefaultsObserving
    /// Runs a job after a time, on another thread.
    typealias RunLater = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    let place = "user defaults"
    let plainTextPlace: String? = "user defaults"
    let isKeyed = true
    // It knows better what the domain has.
    let storesEqualValues = true
    let saysWhenItWaits = true
    let timeout: Duration
    let defaults: SharedUserDefaults
    private let makeObserver: MakeObserver
    private let protection: DataProtection
    private let sizeLimit: UserDefaultsSizeLimit
    private let runLater: RunLater
    private let writing = Turn()
    private let state = Lock(State())

    private struct State {
        /// Those of the parts.
        var hosts: [PreferenceBackendHost?] = [nil, nil, nil]
        /// Whether the defaults aren't locked.
        var isReadable = false
        var observer: (any UserDefaultsObserving)?
        var notifications: [NotificationObserver] = []
        var cached = CachedDefaults()
        var queue = UserDefaultsQueue()
        /// The names that may have changed, for each part.
        var changed: [Set<String>] = [[], [], []]
        /// Whether the observed names were last read some time ago, and whether they must be read again after that time.
        var pause: (isOver: Bool, isReadDue: Bool) = (true, false)
        /// The warning that isn't reported yet, and whether there was one.
        var warning: PreferenceError?
        var isWarned = false
        /// The names whose objects were reported because a preference can't hold them.
        var reported: Set<String> = []

        mutating func noteChanged(_ name: String) {
            for part in changed.indices { changed[part].insert(name) }
        }
    }

    init(
        _ defaults: SharedUserDefaults,
        protection: DataProtection = .none,
        sizeLimit: UserDefaultsSizeLimit = .platform,
        patience: Duration = .seconds(5),
        runLater: @escaping RunLater = UserDefaultsBackend.runOnPool,
        observer: @escaping MakeObserver
    ) {
        (self.defaults, self.protection, self.sizeLimit) = (defaults, protection, sizeLimit)
        (timeout, self.runLater, makeObserver) = (patience, runLater, observer)
    }

    deinit { state.withLock { $0.observer }?.stop() }

    /// Runs a job on a thread of the library.
    static let runOnPool: RunLater = { pause, job in
        pause > .zero ? Pool.current.run(after: pause, job) : Pool.current.run(job)
    }

    // MARK: Opening

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        state.withLock { $0.hosts[UserDefaultsPart.own.rawValue] = host }
        return []
    }

    /// Opens another part; the managed one, without which nothing may be set, throws while the defaults are locked.
    func load(_ part: UserDefaultsPart, host: PreferenceBackendHost) throws(PreferenceError) {
        state.withLock { $0.hosts[part.rawValue] = host }
        if part == .managed { try checkReadable() }
    }

    var isWritable: Bool { state.withLock { $0.isReadable } }

    /// Throws while the defaults are locked; begins to observe when they are no longer, and then has the stores `look`.
    private func checkReadable(
        _ look: (PreferenceBackendHost) -> Void = { $0.changed() }
    ) throws(PreferenceError) {
        if state.withLock({ $0.isReadable }) { return }
        do throws(PreferenceError) { try protection.checkUnlocked() } catch {
            guard state.withLock({ $0.notifications.isEmpty }) else { throw error }
            let observer = NotificationObserver(of: DataProtection.unlocked) { [weak self] _ in self?.unlock() }
            let replaced = state.withLock { exchange(&$0.notifications, with: [observer]) }
            withExtendedLifetime(replaced) {}
            throw error
        }
        start(look)
    }

    private func start(_ look: (PreferenceBackendHost) -> Void) {
        let observer = makeObserver(defaults) { [weak self] in self?.changed($0) }
        let notifications = Self.outdatingNotifications.map { name in
            NotificationObserver(of: name) { [weak self] _ in
                self?.outdate(isPostedBySets: name == UserDefaults.didChangeNotification)
            }
        }
        let (replaced, isFirst) = state.withLock { state in
            guard !state.isReadable else { return (notifications, false) }
            (state.isReadable, state.observer) = (true, observer)
            return (exchange(&state.notifications, with: notifications), true)
        }
        if !isFirst { return observer.stop() }
        // If they were locked, the one that could not be opened tries again, and all ask for what was left out.
        if !replaced.isEmpty { for case let host? in state.withLock({ $0.hosts }) { look(host) } }
    }

    private func unlock() {
        do throws(PreferenceError) { try checkReadable { $0.lookHere() } } catch { return }
        look()
    }

    // MARK: Reading

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

    func values(for names: [String]?) -> [StoredChange] { values(.own, for: names) }

    /// Returns the values of a part under some names, or of those that may have changed.
    func values(_ part: UserDefaultsPart, for names: [String]?) -> [StoredChange] {
        do throws(PreferenceError) { try checkReadable() } catch {
            // They come as changes when the defaults can be read.
            state.withLock { $0.changed[part.rawValue].formUnion(names ?? []) }
            return []
        }
        return (names ?? changedNames(part)).map { StoredChange($0, value(part, of: $0)) }
    }

    private func changedNames(_ part: UserDefaultsPart) -> [String] {
        func noted() -> [String] { Array(state.withLock { exchange(&$0.changed[part.rawValue], with: []) }) }
        let names = noted()
        guard names.isEmpty, part == .own else { return names }
        // In a read of any name, user defaults may deliver what another process has changed.
        _ = defaults.object.object(forKey: SharedUserDefaults.emptyDomain)
        return noted()
    }

    private func value(_ part: UserDefaultsPart, of name: String) -> PropertyListValue? {
        if let known = state.withLock({ $0.cached.value(part, of: name) }) { return known }
        // Observes before it reads, so that no change is missed in between.
        if SharedUserDefaults.canObserve(name) { state.withLock { $0.observer }?.observe(name) }
        let ticket = state.withLock { $0.cached.ticket(of: name) }
        let found = defaults.read(name)
        let value = state.withLock { $0.cached.record(found, of: name, for: part, readAt: ticket) }
        reportInvalid(found.invalid, under: name)
        return value
    }

    /// Reports an object that a preference can't hold, once until the name has a valid value or none.
    private func reportInvalid(_ object: Any?, under name: String) {
        guard let object else {
            state.withLock { _ = $0.reported.remove(name) }
            return
        }
        guard state.withLock({ $0.reported.insert(name).inserted }) else { return }
        state.withLock { $0.hosts[UserDefaultsPart.own.rawValue] }?.report(
            PreferenceError(
                .unreadable,
                name: name,
                "user defaults hold a \(type(of: object)), which can't be decoded"
            )
        )
    }

    // MARK: Writing

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        try checkReadable()
        let changes = try body(.none)
        try state.withLock { state throws(PreferenceError) in
            let changes = changes.filter { !state.cached.isStored($0) }
            let size = state.cached.size(with: changes)
            if size > state.cached.size {
                try sizeLimit.check(size)
                if sizeLimit.isNear(size), !exchange(&state.isWarned, with: true) {
                    state.warning = sizeLimit.warning(size)
                }
            }
            for change in changes { state.cached.set(change.name, to: change.value) }
            state.queue.append(changes)
        }
    }

    func finish() {
        if writing.isMine {
            // In an observer that user defaults call from a set of this thread, which goes on with the rest.
            _ = write(upTo: .max)
            return
        }
        let last = state.withLock { $0.queue.last }
        while state.withLock({ !$0.queue.isEmpty }), writing.enterOrMark() {
            let isDone = write(upTo: last)
            if !writing.leave() || !isDone { break }
        }
        if let warning = state.withLock({ exchange(&$0.warning, with: nil) }) {
            state.withLock { $0.hosts[UserDefaultsPart.own.rawValue] }?.report(warning)
        }
        // They might have other values than those that were written, or weaker ones where values were removed.
        look()
    }

    /// Writes what is queued; returns false if it has left a rest to another thread, as others keep setting values.
    ///
    /// - Parameter last: The number of the last own change.
    private func write(upTo last: Int) -> Bool {
        var rest = 64
        while let change = state.withLock({ $0.queue.begin() }) {
            if let value = change.value {
                defaults.object.set(value.propertyList, forKey: change.name)
            } else {
                defaults.object.removeObject(forKey: change.name)
            }
            let isOther = state.withLock { state in
                state.queue.end()
                state.cached.noteWritten(change.name)
                state.noteChanged(change.name)
                return state.queue.written > last
            }
            if isOther { rest -= 1 }
            guard rest > 0 else {
                runLater(.zero) { [weak self] in self?.finish() }
                return false
            }
        }
        return true
    }

    /// Waits until the system's preferences process has all values; it doesn't report when it writes them to the disk.
    func sync(until deadline: PreferenceDeadline) throws(PreferenceError) {
        let last = state.withLock { $0.queue.last }
        var deadline = deadline
        guard writing.enter(until: deadline.start()) else {
            throw PreferenceError(
                .notDurable,
                "another set of user defaults has not returned, so later sets are not written; "
                    + "look for an observer of user defaults that blocks or flushes, and try again"
            )
        }
        _ = write(upTo: last)
        _ = writing.leave()
        finish()
        guard defaults.object.synchronize() else {
            throw PreferenceError(.notDurable, "user defaults could not be synchronized; try again")
        }
    }

    // MARK: Changes by others

    /// Handles a change of a name by this or another process.
    private func changed(_ name: String) {
        let isLooking = state.withLock { state in
            let isOwn = writing.isMine && state.queue.isBeingWritten(name)
            guard state.cached.invalidate(name, isOwn: isOwn) else { return false }
            state.noteChanged(name)
            return !isOwn
        }
        if isLooking { look() }
    }

    /// Shows what was noted, the weaker values first: they are hidden if the domain has one of its own.
    private func look() {
        let hosts = state.withLock { state in
            zip(state.hosts, state.changed).reversed().filter { !$0.1.isEmpty }.map(\.0)
        }
        for host in hosts { host?.lookHere() }
    }

    /// Notifications that something may have changed, without its name: that any user defaults changed, which covers names that
    /// can't be observed and domains that are removed; or that the program becomes active, because other processes' changes are only
    /// delivered to a run loop on the main thread, which not every program has.
    private static let outdatingNotifications =
        [UserDefaults.didChangeNotification] + NotificationObserver.becameActive

    /// Has all names read again before they are used, and soon if they have observers.
    ///
    /// A program may set something often and use many names, so a name without observers isn't read, and the others are read for the
    /// first notification in a while.
    ///
    /// - Parameter isPostedBySets: Whether a set posts such a notification, which is ignored if the set is the store's own.
    private func outdate(isPostedBySets: Bool) {
        let hosts = state.withLock { state -> [PreferenceBackendHost?] in
            if isPostedBySets, writing.isMine, state.queue.isFirstNotification() { return [] }
            state.cached.invalidateAll()
            return state.hosts
        }
        // All of them, whatever the others return.
        let isAnyOutdated = hosts.reduce(false) { ($1?.source?.outdate() ?? false) || $0 }
        guard isAnyOutdated else { return }
        let isFirst = state.withLock { state in
            state.pause.isReadDue = true
            return exchange(&state.pause.isOver, with: false)
        }
        if isFirst { runLater(.zero) { [weak self] in self?.readOutdated() } }
    }

    /// Reads the observed names that are outdated, unless there was no notification since the last time; and again after a pause, in which any
    /// number of notifications causes one read.
    private func readOutdated() {
        let (hosts, isDue) = state.withLock { state in
            let isDue = exchange(&state.pause.isReadDue, with: false)
            state.pause.isOver = !isDue
            return (state.hosts, isDue)
        }
        guard isDue else { return }
        runLater(.milliseconds(100)) { [weak self] in self?.readOutdated() }
        for source in hosts.reversed().compactMap({ $0?.source }) {
            // Values that can't be shown now are asked for later.
            do { try source.readOutdated(until: source.timeout) } catch {}
        }
    }
}

/// The values that are still to be written to user defaults, in order.
private struct UserDefaultsQueue {
    private var changes: [StoredChange] = []
    private var next = 0
    /// The names that are being set, the innermost last, each with whether the notification of the set has been posted.
    private var names: [(name: String, isNotified: Bool)] = []
    /// The number of all changes ever added, and of those that are written.
    private(set) var last = 0
    private(set) var written = 0

    var isEmpty: Bool { next == changes.count }

    mutating func append(_ changes: [StoredChange]) {
        self.changes += changes
        last += changes.count
    }

    /// Returns the next value to write; `end` must follow.
    ///
    /// Not one of a name that the thread is setting: an observer may be called before the value is stored, which would then replace the newer
    /// one.
    mutating func begin() -> StoredChange? {
        guard next < changes.count, !isBeingWritten(changes[next].name) else { return nil }
        let change = changes[next]
        next += 1
        if isEmpty { (changes, next) = ([], 0) }
        names.append((change.name, false))
        return change
    }

    mutating func end() {
        names.removeLast()
        written += 1
    }

    func isBeingWritten(_ name: String) -> Bool { names.contains { $0.name == name } }

    /// Whether a notification is that of the innermost set, which posts one.
    mutating func isFirstNotification() -> Bool {
        guard let last = names.indices.last else { return false }
        return !exchange(&names[last].isNotified, with: true)
    }
}
#endif
