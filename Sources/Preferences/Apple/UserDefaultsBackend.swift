#if canImport(Darwin) || STANDINS
internal import DurableFile
internal import Foundation

/// A backend over user defaults.
///
/// Foundation calls observers of user defaults inside `set`, and inside a read that finds changes of another process; these
/// observers may use the store. So user defaults are read and set without a lock or a turn: `revalidate` reads,
/// `apply` decides by the values that were read and queues the changes, and `writeApplied` writes. One thread at a time writes, in the
/// order of the queue; a thread that finds another one writing leaves its values to it and doesn't wait. Cached values are
/// compared with user defaults only for names with no queued write, so the store's own writes aren't reported as changes.
final class UserDefaultsBackend: PreferenceBackend {
    /// Creates the observer that reports changes; on Apple platforms a `KeyValueObserver`.
    typealias MakeObserver =
        @Sendable (SharedUserDefaults, @escaping @Sendable (String) -> Void) -> any UserDefaultsObserving
    /// Runs a job after a time, on another thread.
    typealias RunLater = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    let defaults: SharedUserDefaults
    let plainTextPlace: String? = "user defaults"
    let listsAllNames = false
    let isReentrant = true
    private let makeObserver: MakeObserver
    private let protection: DataProtection
    private let sizeLimit: UserDefaultsSizeLimit
    /// The time that `sync` waits for a set that another thread is making.
    private let patience: Duration
    private let runLater: RunLater
    private let state = Condition(State())

    fileprivate struct State {
        var host: PreferenceBackendHost?
        /// That of the values below the domain's own.
        var weakerHost: PreferenceBackendHost?
        /// Whether changes were passed to that host that might not be published.
        var hasWeakerChanges = false
        var observer: (any UserDefaultsObserving)?
        var notifications: [NotificationObserver] = []
        var cached = CachedDefaults()
        var queue = UserDefaultsQueue()
        /// Whether the observed names were last read some time ago, and whether they must be read again after that time.
        var pause: (isOver: Bool, isReadDue: Bool) = (true, false)
        var isWarned = false
        /// The names whose objects were reported because a preference can't hold them.
        var reported: Set<String> = []
    }

    init(
        _ defaults: SharedUserDefaults,
        protection: DataProtection = .none,
        sizeLimit: UserDefaultsSizeLimit = .platform,
        patience: Duration = .seconds(10),
        runLater: @escaping RunLater = UserDefaultsBackend.makeRunLater(),
        observer: @escaping MakeObserver
    ) {
        self.defaults = defaults
        self.protection = protection
        self.sizeLimit = sizeLimit
        self.patience = patience
        self.runLater = runLater
        makeObserver = observer
    }

    deinit {
        state.withLock { $0.observer }?.stop()
    }

    /// Returns what runs jobs on threads of the library.
    static func makeRunLater() -> RunLater {
        // A queue's delayed jobs end with it. Each job that is due has a queue of its own, as any of them may hang.
        let timer = WorkerQueue()
        return { pause, job in
            guard pause > .zero else { return WorkerQueue(isBlocking: true).run(job) }
            timer.run(after: pause) { WorkerQueue(isBlocking: true).run(job) }
        }
    }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        do throws(PreferenceError) { try protection.checkUnlocked() } catch {
            if state.withLock({ $0.notifications.isEmpty }) {
                let observer = NotificationObserver(of: DataProtection.unlocked) { _ in host.changed() }
                state.withLock { $0.notifications = [observer] }
            }
            throw error
        }
        let observer = makeObserver(defaults) { [weak self] in self?.changed($0) }
        let notifications = Self.invalidatingNotifications.map { name in
            NotificationObserver(of: name) { [weak self] _ in
                self?.invalidate(isPostedBySets: name == UserDefaults.didChangeNotification)
            }
        }
        let before = state.withLock { state in
            state.host = host
            state.observer = observer
            return exchange(&state.notifications, with: notifications)
        }
        withExtendedLifetime(before) {}
        return [:]
    }

    func values(for names: Set<String>) -> [String: PropertyListValue] {
        state.withLock { $0.cached.values(of: names) }
    }

    /// Returns the cached values that are shown where the domain has none of its own.
    func weakerValues(for names: Set<String>) -> [String: PropertyListValue] {
        state.withLock { $0.cached.weakerValues(of: names) }
    }

    /// Passes changes of the values below the domain's own to another host; throws if user defaults can't be read yet.
    func loadWeaker(host: PreferenceBackendHost) throws(PreferenceError) {
        try protection.checkUnlocked()
        state.withLock { $0.weakerHost = host }
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        let (warning, commit) = try state.withLock { state throws(PreferenceError) in
            guard state.holds(condition) else {
                return (nil as PreferenceError?, PreferenceBackendCommit(isStored: false))
            }
            let changes = changes.filter { !state.cached.hasSet($0.key, to: $0.value) }
            let warning = try check(changes, in: &state)
            for (name, value) in changes { state.cached.set(name, to: value) }
            state.queue.append(changes)
            state.host?.noteApplied()
            return (warning, PreferenceBackendCommit())
        }
        if let warning { state.withLock { $0.host }?.report(warning) }
        return commit
    }

    func writeApplied() {
        var stale: Set<String> = []
        let last = state.withLock { $0.queue.last }
        var count = 0
        while let (name, value) = state.withLock({ $0.queue.next(for: .current) }) {
            if let value {
                defaults.object.set(value.propertyList, forKey: name)
            } else {
                defaults.object.removeObject(forKey: name)
            }
            let (isCurrent, isOwnWritten) = state.signal { state in
                state.queue.finish(name)
                return (state.isCurrent(CollectionOfOne(name)), state.queue.isWritten(last))
            }
            // Checks names that were invalidated during the set, by its own notification or by another change. Also names of which no
            // notification would come: a removal may uncover a value of another domain, which may also hide a value that can't be observed.
            if !isCurrent || value == nil || !SharedUserDefaults.canObserve(name) { stale.insert(name) }
            if isOwnWritten { count += 1 }
            if count == Self.fairShare {
                // Other threads keep setting values.
                runLater(.zero) { [weak self] in self?.writeApplied() }
                break
            }
        }
        if !stale.isEmpty { notifyOfChanges(of: stale) }
    }

    /// The number of writes that a thread makes after its own are done, before it hands the rest to another thread.
    private static var fairShare: Int { 64 }

    /// Waits until the system's preferences process has all values; it doesn't report when it writes them to the disk.
    func sync() throws(PreferenceError) {
        let last = state.withLock { $0.queue.last }
        let start = ContinuousClock.now
        var isInTime = true
        while isInTime, state.withLock({ !$0.queue.isWritten(last) }) {
            writeApplied()
            isInTime = state.wait { state -> Condition<State>.Wait<Bool> in
                // The writing thread may have left the rest of the queue.
                if state.queue.isWritten(last) || !state.queue.isWriting { return .done(true) }
                let rest = patience - (ContinuousClock.now - start)
                return state.queue.isWriting(on: .current) || rest <= .zero ? .done(false) : .until(rest)
            }
        }
        guard isInTime else {
            throw PreferenceError(
                .notDurable,
                "another thread's set of user defaults has not returned, so later sets are not written; "
                    + "look for an observer of user defaults that blocks or flushes, and try again"
            )
        }
        guard defaults.object.synchronize() else {
            throw PreferenceError(.notDurable, "user defaults could not be synchronized; try again")
        }
    }

    func isManaged(_ name: String) -> Bool {
        defaults.object.objectIsForced(forKey: name)
    }
}

// MARK: Reading

extension UserDefaultsBackend {
    func revalidate(_ names: Set<String>) {
        for name in names { _ = revalidate(name) }
    }

    func isCurrent(_ names: Set<String>) -> Bool { state.withLock { $0.isCurrent(names) } }

    /// Reads a name, and again if it was changed or invalidated during the read; returns whether it has changed.
    private func revalidate(_ name: String) -> Bool {
        // Observes before it reads, so that no change is missed in between.
        if SharedUserDefaults.canObserve(name) { state.withLock { $0.observer }?.observe(name) }
        for attempt in 1...Self.attempts {
            let ticket = state.withLock { state in
                state.queue.holds(name) ? nil : state.cached.startReading(name)
            }
            guard let ticket else { return false }
            let found = defaults.read(name)
            let isChanged = state.withLock { state -> Bool? in
                guard !state.queue.holds(name) else { return nil }
                // After the last attempt, accepts the value that was read: an invalidation since then causes another read.
                let isAccepted =
                    state.cached.isCurrent(ticket, of: name)
                    || attempt == Self.attempts && state.cached.isNewest(ticket, of: name)
                guard isAccepted else { return nil }
                let isChanged = state.cached.record(found, under: name, readAt: ticket)
                if isChanged {
                    state.weakerHost?.collect([name: found.weaker])
                    state.hasWeakerChanges = state.weakerHost != nil
                    state.host?.collect([name: state.cached[name]])
                }
                return isChanged
            }
            guard let isChanged else { continue }
            reportInvalid(found.invalid, under: name)
            return isChanged
        }
        return false
    }

    private static var attempts: Int { 8 }

    /// Reports an object that a preference can't hold, once until the name has a valid value or none.
    private func reportInvalid(_ object: Any?, under name: String) {
        guard let object else {
            state.withLock { _ = $0.reported.remove(name) }
            return
        }
        guard state.withLock({ $0.reported.insert(name).inserted }) else { return }
        state.withLock { $0.host }?.report(
            PreferenceError(
                .unreadable,
                name: name,
                "user defaults hold a \(type(of: object)), which can't be decoded"
            )
        )
    }

    /// Reads names, and notifies the store if they differ.
    private func notifyOfChanges(of names: Set<String>) {
        let isAnyChanged = names.reduce(false) { revalidate($1) || $0 }
        guard isAnyChanged else { return }
        // The weaker values first: they are hidden if the domain has one of its own.
        publishWeaker()
        state.withLock { $0.host }?.changed()
    }

    private func publishWeaker() {
        state.withLock { exchange(&$0.hasWeakerChanges, with: false) ? $0.weakerHost : nil }?.changed()
    }

    /// Handles a change of a name by this or another process.
    private func changed(_ name: String) {
        guard state.withLock({ $0.cached.invalidate(name) }) else { return }
        notifyOfChanges(of: [name])
    }

    /// Notifications that something may have changed, without its name: that any user defaults changed, which covers names that
    /// can't be observed and domains that are removed; or that the program becomes active, because other processes' changes are only
    /// delivered to a run loop on the main thread, which not every program has.
    private static let invalidatingNotifications =
        [UserDefaults.didChangeNotification] + NotificationObserver.becameActive

    /// Invalidates all names: each is read again before it is used, and if it has observers soon in any case.
    ///
    /// A program may set something often and use many names, so a name without observers isn't read, and the others are read for the
    /// first notification in a while.
    ///
    /// - Parameter isPostedBySets: Whether a set posts such a notification, which is ignored if the set is the store's own.
    private func invalidate(isPostedBySets: Bool) {
        let (hosts, isFirst) = state.withLock { state -> ([PreferenceBackendHost?], Bool) in
            // The set that this thread is making posts one such notification.
            guard !isPostedBySets || !state.queue.consumeNotification(on: .current) else { return ([], false) }
            guard state.cached.invalidateAll() else { return ([], false) }
            state.pause.isReadDue = true
            return ([state.host, state.weakerHost], exchange(&state.pause.isOver, with: false))
        }
        for host in hosts { host?.outdated() }
        if isFirst { runLater(.zero) { [weak self] in self?.revalidateObserved() } }
    }

    /// Reads the observed names that were invalidated and not read since, and notifies their observers, unless nothing was invalidated
    /// since the last time; and again after a pause, in which any number of notifications causes one read.
    private func revalidateObserved() {
        let (host, isDue) = state.withLock { state in
            let isDue = exchange(&state.pause.isReadDue, with: false)
            state.pause.isOver = !isDue
            return (state.host, isDue)
        }
        guard isDue else { return }
        runLater(.milliseconds(100)) { [weak self] in self?.revalidateObserved() }
        // Observation can't be asked what it tracks, so these may be all names that were read; those with observers come first.
        for includingTracked in [false, true] {
            guard let names = host?.observedNames(includingTracked: includingTracked) else { return }
            notifyOfChanges(of: state.withLock { state in names.filter(state.cached.isOutdated) })
        }
    }
}

extension UserDefaultsBackend.State {
    /// Returns whether a condition holds for the cached values and these are current.
    fileprivate func holds(_ condition: PreferenceCondition) -> Bool {
        if condition.isNone { return true }
        let names = condition.isComplete ? cached.names : Set(condition.values.keys)
        return isCurrent(names) && condition.holds(for: cached.values(of: names))
    }

    /// Returns whether the cached values of some names are current, as is that of a name with a queued write.
    fileprivate func isCurrent(_ names: some Sequence<String>) -> Bool {
        names.allSatisfy { queue.holds($0) || cached.isCurrent($0) }
    }
}

// MARK: Limits

extension UserDefaultsBackend {
    /// Throws if user defaults wouldn't accept the changes; returns a warning if their size is near the limit.
    private func check(
        _ changes: [String: PropertyListValue?],
        in state: inout State
    ) throws(PreferenceError) -> PreferenceError? {
        if let name = changes.keys.first(where: { state.cached.isForced($0) }) {
            throw PreferenceError(
                .managed,
                name: name,
                "the value is managed by an administrator and can't be changed here; nothing was changed"
            )
        }
        let after = state.cached.size(with: changes)
        guard after > state.cached.size else { return nil }
        try sizeLimit.check(after)
        guard sizeLimit.isNear(after), !state.isWarned else { return nil }
        state.isWarned = true
        return sizeLimit.warning(after)
    }
}

/// The size limit of the values of one user defaults domain.
///
/// The store counts only the names that it uses, and their sizes are estimates: the system may count more.
struct UserDefaultsSizeLimit: Sendable {
    /// The limit, in bytes.
    let limit: Int

    func check(_ size: Int) throws(PreferenceError) {
        guard size > limit else { return }
        throw PreferenceError(
            .tooLarge,
            "the values would take about \(size) bytes, but user defaults hold at most \(limit) here; nothing was changed. "
                + "Keep large values in files"
        )
    }

    /// Returns whether the size is near the limit and a warning is due.
    func isNear(_ size: Int) -> Bool { size > limit / 4 * 3 }

    func warning(_ size: Int) -> PreferenceError {
        PreferenceError(
            .tooLarge,
            "the values take about \(size) bytes, and user defaults hold at most \(limit) here; keep large values in files"
        )
    }
}

extension UserDefaultsSizeLimit {
    #if os(tvOS)
    /// At this size, tvOS warns by `sizeLimitExceededNotification`; at 1 MB it ends the program.
    static let platform = UserDefaultsSizeLimit(limit: 512 * 1024)
    #elseif os(watchOS)
    static let platform = UserDefaultsSizeLimit(limit: 1024 * 1024)
    #else
    /// "Attempting to store >= 4194304 bytes of data in CFPreferences/NSUserDefaults on this platform is invalid", says
    /// the system's log.
    static let platform = UserDefaultsSizeLimit(limit: 4 * 1024 * 1024)
    #endif
}

/// The names that a suite of user defaults can have.
package enum UserDefaultsSuite {
    /// Throws for the program's own domain and the domain of all programs, for which no `UserDefaults` can be created.
    package static func check(_ name: String, ownDomain: String?) throws(PreferenceError) {
        // The constants of CFPreferences name these domains, too.
        if name == ownDomain || name == "kCFPreferencesCurrentApplication" {
            throw PreferenceError(
                .invalidName,
                "\"\(name)\" can't name a suite: it is the program's own identifier; use PreferenceStore.standard"
            )
        }
        if name == UserDefaults.globalDomain || name == "kCFPreferencesAnyApplication" {
            throw PreferenceError(
                .invalidName,
                "\"\(name)\" can't name a suite: it holds the settings of all programs; use a name of your own"
            )
        }
    }
}
#endif
