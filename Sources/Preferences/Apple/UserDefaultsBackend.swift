#if canImport(Darwin) || STANDINS
internal import DurableFile
internal import Foundation

/// Keeps values in user defaults.
///
/// Foundation calls whoever observes the defaults from inside `set`, and from inside a read that finds changes of another
/// process; these may use the store. So user defaults are asked and set without a lock or a turn: `revalidate` reads,
/// `apply` decides by what was read and queues, `write` writes. One thread at a time writes, in the order of the queue; one
/// that finds another writing leaves its values to that one and waits for nobody. What the store knows of a name is compared
/// with the defaults only while nothing is queued for the name, so one's own writes never come back as changes.
final class UserDefaultsBackend: ReentrantBackend, PlainTextBackend {
    /// Makes what tells of changes; on Apple platforms a `KeyValueObserver`.
    typealias MakeObserver =
        @Sendable (SharedUserDefaults, @escaping @Sendable (String) -> Void) -> any UserDefaultsObserving
    /// Runs a job later, on another thread.
    typealias RunLater = @Sendable (@escaping @Sendable () -> Void) -> Void

    let defaults: SharedUserDefaults
    let place = "user defaults"
    private let makeObserver: MakeObserver
    private let protection: DataProtection
    private let sizeLimit: UserDefaultsSizeLimit
    /// How long `sync` waits for a set that another thread is making.
    private let patience: Duration
    private let runLater: RunLater
    private let state = Condition(State())

    fileprivate struct State {
        var host: PreferenceBackendHost?
        var observer: (any UserDefaultsObserving)?
        var notifications: [NotificationObserver] = []
        var known = KnownDefaults()
        var queue = UserDefaultsQueue()
        /// Whether all names will be read again.
        var isRevalidating = false
        var isWarned = false
        /// The names of which was reported that they hold what is no value.
        var reported: Set<String> = []
    }

    init(
        _ defaults: SharedUserDefaults,
        protection: DataProtection = .none,
        sizeLimit: UserDefaultsSizeLimit = .platform,
        patience: Duration = .seconds(10),
        runLater: @escaping RunLater = { WorkerQueue(isBlocking: true).run($0) },
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

    func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] {
        guard !protection.isLocked() else {
            if state.withLock({ $0.notifications.isEmpty }) {
                let observer = NotificationObserver(of: DataProtection.unlocked) { _ in host.changed() }
                state.withLock { $0.notifications = [observer] }
            }
            throw PreferencesError(
                .unavailable,
                "the device was not unlocked since it started, so user defaults can't be read yet and nothing is "
                    + "written to them; try again later"
            )
        }
        let observer = makeObserver(defaults) { [weak self] in self?.changed($0) }
        let notifications = Self.doubtful.map { name in
            NotificationObserver(of: name) { [weak self] _ in
                self?.doubt(ifOthers: name == UserDefaults.didChangeNotification)
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
        state.withLock { $0.known.values(of: names) }
    }

    func refresh() -> [String: PropertyListValue?] {
        state.withLock { $0.known.takeUntold() }
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        let (warning, commit) = try state.withLock { state throws(PreferencesError) in
            let outside = state.known.takeUntold()
            guard state.holds(condition) else {
                return (nil as PreferencesError?, PreferenceBackendCommit(outside: outside, isStored: false))
            }
            let changes = changes.filter { !state.known.hasSet($0.key, to: $0.value) }
            var warning: PreferencesError?
            do throws(PreferencesError) {
                warning = try check(changes, in: &state)
            } catch {
                state.known.untake(outside)
                throw error
            }
            for (name, value) in changes { state.known.set(name, to: value) }
            state.queue.append(changes)
            return (warning, PreferenceBackendCommit(outside: outside, isStored: true))
        }
        if let warning { state.withLock { $0.host }?.report(warning) }
        return commit
    }

    func write() {
        var doubtful: Set<String> = []
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
            // Somebody told of a change meanwhile: of this set, or of another's. Or nobody would: what is removed may uncover a
            // value of another domain, and what can't be observed be hidden by one.
            if !isCurrent || value == nil || !SharedUserDefaults.canObserve(name) { doubtful.insert(name) }
            if isOwnWritten { count += 1 }
            if count == Self.fairShare {
                // Others set without end.
                runLater { [weak self] in self?.write() }
                break
            }
        }
        if !doubtful.isEmpty { tellOfChanges(under: doubtful) }
    }

    /// How many names one thread writes from its own last one on.
    private static var fairShare: Int { 64 }

    /// Waits until the system's process has everything; when that one writes it to the disk nobody is told.
    func sync() throws(PreferencesError) {
        let last = state.withLock { $0.queue.last }
        let start = ContinuousClock.now
        var isInTime = true
        while isInTime, state.withLock({ !$0.queue.isWritten(last) }) {
            write()
            isInTime = state.wait { state -> Condition<State>.Wait<Bool> in
                // Who wrote may have left the rest.
                if state.queue.isWritten(last) || !state.queue.isWriting { return .done(true) }
                let rest = patience - (ContinuousClock.now - start)
                return state.queue.isWriting(on: .current) || rest <= .zero ? .done(false) : .until(rest)
            }
        }
        guard isInTime else {
            throw PreferencesError(
                .notDurable,
                "another thread's set of user defaults has not returned, nor what waits for it; "
                    + "look for an observer of user defaults that blocks or flushes, and try again"
            )
        }
        guard defaults.object.synchronize() else {
            throw PreferencesError(.notDurable, "user defaults could not be synchronized; try again")
        }
    }

    func isManaged(_ name: String) -> Bool {
        defaults.object.objectIsForced(forKey: name)
    }
}

// MARK: Reading

extension UserDefaultsBackend {
    func revalidate(_ names: Set<String>) -> Bool {
        for name in names { revalidate(name) }
        return state.withLock { $0.known.hasUntold }
    }

    func isCurrent(_ names: Set<String>) -> Bool { state.withLock { $0.isCurrent(names) } }

    /// Reads a name, again where something happened to it meanwhile.
    private func revalidate(_ name: String) {
        // First observe, then read, so that no change falls between.
        if SharedUserDefaults.canObserve(name) { state.withLock { $0.observer }?.observe(name) }
        for attempt in 1...Self.attempts {
            let ticket = state.withLock { state in
                state.queue.holds(name) ? nil : state.known.startReading(name)
            }
            guard let ticket else { return }
            let object = defaults.object.object(forKey: name)
            let isForced = defaults.object.objectIsForced(forKey: name)
            let value = object.flatMap(PropertyListValue.init(propertyList:))
            let isDone = state.withLock { state in
                guard !state.queue.holds(name) else { return false }
                // After some times what was read last has to do: whoever said since that it may be outdated has it read again.
                let isTaken =
                    state.known.isCurrent(ticket, of: name)
                    || attempt == Self.attempts && state.known.isNewest(ticket, of: name)
                if isTaken { state.known.take(value, isForced: isForced, under: name, readAt: ticket) }
                return isTaken
            }
            guard isDone else { continue }
            reportNoValue(value == nil ? object : nil, under: name)
            return
        }
    }

    private static var attempts: Int { 8 }

    /// Reports an object that is no value, once until there is a value, or none.
    private func reportNoValue(_ object: Any?, under name: String) {
        guard let object else {
            state.withLock { _ = $0.reported.remove(name) }
            return
        }
        guard state.withLock({ $0.reported.insert(name).inserted }) else { return }
        state.withLock { $0.host }?.report(
            PreferencesError(.unreadable, name: name, "user defaults hold a \(type(of: object)), which is no value")
        )
    }

    /// Reads names, and tells the store if they differ.
    private func tellOfChanges(under names: Set<String>) {
        guard revalidate(names) else { return }
        state.withLock { $0.host }?.changed()
    }

    /// A name was set, by whomever.
    private func changed(_ name: String) {
        guard state.withLock({ $0.known.doubt(name) }) else { return }
        tellOfChanges(under: [name])
    }

    /// What says that something may have changed, but not what: that anything in user defaults did, in which there are names that
    /// can't be observed and domains that are removed; or that the program comes to the front, as what other processes changed
    /// comes to a run loop on the main thread, which not every program has.
    private static let doubtful = [
        UserDefaults.didChangeNotification,
        // By their names, as not every process may use UIKit, AppKit or WatchKit.
        Notification.Name("UIApplicationDidBecomeActiveNotification"),
        Notification.Name("NSApplicationDidBecomeActiveNotification"),
        Notification.Name("WKApplicationDidBecomeActiveNotification"),
        Notification.Name("NSExtensionHostDidBecomeActiveNotification"),
    ]

    /// Any name may have changed: each is read again before it is used, and soon in any case, for those who observe it.
    ///
    /// - Parameter ifOthers: Whether a set posts such a notification, which does not count if the set is the store's own.
    private func doubt(ifOthers: Bool) {
        let (host, isFirst) = state.withLock { state -> (PreferenceBackendHost?, isFirst: Bool) in
            // One such notification is of the set that this thread is making.
            guard !ifOthers || !state.queue.takeNotification(on: .current) else { return (nil, false) }
            guard state.known.doubtAll() else { return (nil, false) }
            return (state.host, !exchange(&state.isRevalidating, with: true))
        }
        host?.outdated()
        guard isFirst else { return }
        runLater { [weak self] in
            guard let self else { return }
            let names = self.state.withLock { state in
                state.isRevalidating = false
                return state.known.names
            }
            self.tellOfChanges(under: names)
        }
    }
}

extension UserDefaultsBackend.State {
    /// Whether a condition is true of what is known, and that is current.
    fileprivate func holds(_ condition: PreferenceCondition) -> Bool {
        if condition.isNone { return true }
        let names = condition.isComplete ? known.names : Set(condition.values.keys)
        return isCurrent(names) && condition.holds(for: known.values(of: names))
    }

    /// Whether what is known of some names is current, as it is of a name that is about to be written.
    fileprivate func isCurrent(_ names: some Sequence<String>) -> Bool {
        names.allSatisfy { queue.holds($0) || known.isCurrent($0) }
    }
}

// MARK: Limits

extension UserDefaultsBackend {
    /// Throws where the defaults would not take the changes; returns what is to be reported of their size.
    private func check(
        _ changes: [String: PropertyListValue?],
        in state: inout State
    ) throws(PreferencesError) -> PreferencesError? {
        if let name = changes.keys.first(where: { state.known.isForced($0) }) {
            throw PreferencesError(
                .managed,
                name: name,
                "the value is managed by an administrator and can't be changed here; nothing was changed"
            )
        }
        let after = state.known.size(with: changes)
        guard after > state.known.size else { return nil }
        try sizeLimit.check(after)
        guard sizeLimit.isNear(after), !state.isWarned else { return nil }
        state.isWarned = true
        return sizeLimit.warning(after)
    }
}
#endif
