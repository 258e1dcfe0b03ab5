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
final class UserDefaultsBackend: ReentrantBackend {
    /// Makes what tells of changes; on Apple platforms a `KeyValueObserver`.
    typealias MakeObserver =
        @Sendable (SharedUserDefaults, @escaping @Sendable (String) -> Void) -> any UserDefaultsObserving
    /// Runs a job later, on another thread.
    typealias RunLater = @Sendable (@escaping @Sendable () -> Void) -> Void

    let defaults: SharedUserDefaults
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
        runLater: @escaping RunLater = { WorkerThread(isBlocking: true).run($0) },
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

    /// Whether names are known as they are; one that is about to be set is.
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

#if canImport(Darwin) || STANDINS
/// What a store knows of the names in user defaults that it uses, and whether that may be outdated.
///
/// Pure: it reads nothing. Who reads takes a ticket before, and what it found counts only if nothing happened since.
struct KnownDefaults {
    private struct Name {
        var value: PropertyListValue?
        var isForced = false
        /// Whether the value was set or removed through the store, and is not known to have changed since: then it is in the
        /// domain itself, and not registered, an argument or one of all programs.
        var isOwn = false
        /// Counts what may have changed the value.
        var doubts: UInt64 = 0
        /// Counts the store's own sets.
        var sets: UInt64 = 0
        /// Counts the reads that found another value.
        var reads: UInt64 = 0
        /// The counts when the value was read.
        var read: Ticket?
    }

    /// How often a name, and all of them, may have changed, and what the store did and found.
    struct Ticket: Equatable {
        fileprivate let sets: UInt64
        fileprivate let reads: UInt64
        fileprivate let doubts: UInt64
        fileprivate let allDoubts: UInt64
    }

    private var known: [String: Name] = [:]
    private var allDoubts: UInt64 = 0
    /// About how many bytes the values take together.
    private(set) var size = 0
    /// What was found changed, and the store was not told of yet.
    private var untold: [String: PropertyListValue?] = [:]

    subscript(name: String) -> PropertyListValue? { known[name]?.value }

    /// The names in use.
    var names: Set<String> { Set(known.keys) }

    func values(of names: Set<String>) -> [String: PropertyListValue] {
        names.reduce(into: [:]) { $0[$1] = known[$1]?.value }
    }

    func isForced(_ name: String) -> Bool { known[name]?.isForced ?? false }

    // MARK: Reading

    /// Puts a name into use, if it isn't yet.
    mutating func startReading(_ name: String) -> Ticket {
        let new = known[name] ?? Name()
        known[name] = new
        return ticket(of: new)
    }

    /// Whether nothing has happened to a name since a ticket was taken.
    func isCurrent(_ ticket: Ticket, of name: String) -> Bool { ticket == self.ticket(of: known[name] ?? Name()) }

    /// Whether the store knows nothing newer of a name than when a ticket was taken.
    func isNewest(_ ticket: Ticket, of name: String) -> Bool {
        known[name].map { $0.sets == ticket.sets && $0.reads == ticket.reads } ?? true
    }

    /// Takes in what was read.
    mutating func take(_ value: PropertyListValue?, isForced: Bool, under name: String, readAt ticket: Ticket) {
        var new = known[name] ?? Name()
        let isFirst = new.read == nil
        new.isForced = isForced
        // Others may blur the kind of a number: then the declared type decides, so it is no change.
        if isFirst || !Self.isSame(value, new.value) {
            size += Self.size(of: value, named: name) - Self.size(of: new.value, named: name)
            new.value = value
            new.isOwn = false
            if !isFirst { untold.updateValue(value, forKey: name) }
            // Who began to read before, and found another value, reads again.
            let isCurrent = ticket == self.ticket(of: new)
            new.reads += 1
            new.read = isCurrent ? self.ticket(of: new) : ticket
        } else {
            new.read = ticket
        }
        known[name] = new
    }

    func isCurrent(_ name: String) -> Bool {
        known[name].map { $0.read == ticket(of: $0) } ?? false
    }

    /// Notes that a name may have changed; false if it isn't in use.
    mutating func doubt(_ name: String) -> Bool {
        known[name]?.doubts += 1
        return known[name] != nil
    }

    /// Notes that any name may have changed; false if none is in use.
    mutating func doubtAll() -> Bool {
        allDoubts += 1
        return !known.isEmpty
    }

    private func ticket(of name: Name) -> Ticket {
        Ticket(sets: name.sets, reads: name.reads, doubts: name.doubts, allDoubts: allDoubts)
    }

    private static func isSame(_ left: PropertyListValue?, _ right: PropertyListValue?) -> Bool {
        guard let left, let right else { return left == right }
        return left.isSame(as: right)
    }

    // MARK: What the store is told

    var hasUntold: Bool { !untold.isEmpty }

    mutating func takeUntold() -> [String: PropertyListValue?] { exchange(&untold, with: [:]) }

    /// Takes back that the store was told.
    mutating func untake(_ changes: [String: PropertyListValue?]) { untold.merge(changes) { new, _ in new } }

    // MARK: Setting

    /// Whether the store itself has set the name to a value, or removed it, so that nothing need be written.
    func hasSet(_ name: String, to value: PropertyListValue?) -> Bool {
        guard let name = known[name] else { return false }
        return name.value == value && (name.isOwn || value == nil)
    }

    /// Notes what will be written before the name is read again.
    mutating func set(_ name: String, to value: PropertyListValue?) {
        var new = known[name] ?? Name()
        size += Self.size(of: value, named: name) - Self.size(of: new.value, named: name)
        new.value = value
        new.isOwn = true
        // What is being read just now is outdated; the new value isn't.
        new.sets += 1
        new.read = ticket(of: new)
        known[name] = new
    }

    /// The size once these changes are made.
    func size(with changes: [String: PropertyListValue?]) -> Int {
        changes.reduce(size) { size, change in
            size + Self.size(of: change.value, named: change.key) - Self.size(of: self[change.key], named: change.key)
        }
    }

    private static func size(of value: PropertyListValue?, named name: String) -> Int {
        value.map { 9 + name.utf8.count + $0.approximateSize } ?? 0
    }
}
#endif

#if canImport(Darwin) || STANDINS
/// What is still to be written to user defaults, in order; one thread at a time writes.
struct UserDefaultsQueue {
    private var entries: [(name: String, value: PropertyListValue?)] = []
    private var head = 0
    /// How many entries of a name are not written.
    private var counts: [String: Int] = [:]
    /// Who writes just now, and whether it was notified of that.
    private var writer: (thread: ThreadIdentity, isNotified: Bool)?
    /// How many entries there were, and how many are written.
    private(set) var last = 0
    private var written = 0

    mutating func append(_ changes: [String: PropertyListValue?]) {
        for (name, value) in changes {
            entries.append((name, value))
            counts[name, default: 0] += 1
            last += 1
        }
    }

    /// Whether anything of a name is not written.
    func holds(_ name: String) -> Bool { counts[name] != nil }

    /// Whether everything up to a count is written.
    func isWritten(_ count: Int) -> Bool { written >= count }

    var isWriting: Bool { writer != nil }
    func isWriting(on thread: ThreadIdentity) -> Bool { writer?.thread == thread }

    /// What to write next; nil where nothing waits, or another thread writes it. Followed by `finish`.
    ///
    /// Of a name that was set several times, the last value.
    mutating func next(for thread: ThreadIdentity) -> (name: String, value: PropertyListValue?)? {
        guard writer == nil, head < entries.count else { return nil }
        while let count = counts[entries[head].name], count > 1 {
            counts[entries[head].name] = count - 1
            written += 1
            head += 1
        }
        if head > 64, head > entries.count / 2 {
            entries.removeFirst(head)
            head = 0
        }
        writer = (thread, false)
        defer { head += 1 }
        return entries[head]
    }

    /// Whether a notification on this thread is the one of its own set, which posts one.
    mutating func takeNotification(on thread: ThreadIdentity) -> Bool {
        guard let writer, writer.thread == thread, !writer.isNotified else { return false }
        self.writer?.isNotified = true
        return true
    }

    /// Notes that what `next` gave is written.
    mutating func finish(_ name: String) {
        writer = nil
        written += 1
        counts[name] = counts[name].flatMap { $0 > 1 ? $0 - 1 : nil }
        guard head == entries.count else { return }
        entries.removeAll()
        head = 0
    }
}
#endif
