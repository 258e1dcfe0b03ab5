#if canImport(Darwin) || STANDINS
internal import DurableFile
internal import Foundation

/// Keeps values in user defaults.
///
/// Foundation calls whoever observes the defaults from inside `set`, on the setting thread, and these may use the
/// store. So nothing is written under the store's lock: `apply` decides and queues, `didApply` writes. One thread at a
/// time writes, in the order of the queue; one that finds another writing leaves its values to that one and waits for
/// nobody. What the store knows of a name is compared with the defaults only while nothing is queued for the name, so
/// one's own writes never come back as changes.
final class UserDefaultsBackend: PreferenceBackend {
    /// Makes what tells of changes; on Apple platforms a `KeyValueObserver`.
    typealias MakeObserver =
        @Sendable (SharedUserDefaults, @escaping @Sendable (String) -> Void) -> any UserDefaultsObserving

    let defaults: SharedUserDefaults
    private let makeObserver: MakeObserver
    private let protection: DataProtection
    private let sizeLimit: UserDefaultsSizeLimit
    private let state = Lock(State())

    private struct State {
        var host: PreferenceBackendHost?
        var observer: (any UserDefaultsObserving)?
        var notifications: NotificationObserver?
        /// The names in use, and what the store knows of them.
        var names: Set<String> = []
        var known = UserDefaultsContents()
        /// Names that may differ from what the store knows.
        var suspects: Set<String> = []
        /// Outside changes that the store was not told of yet.
        var untold: [String: PropertyListValue?] = [:]
        var queue = UserDefaultsQueue()
        var isWarned = false
    }

    init(
        _ defaults: SharedUserDefaults,
        protection: DataProtection = .none,
        sizeLimit: UserDefaultsSizeLimit = .platform,
        observer: @escaping MakeObserver
    ) {
        self.defaults = defaults
        self.protection = protection
        self.sizeLimit = sizeLimit
        makeObserver = observer
    }

    func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] {
        guard !protection.isLocked() else {
            let observer = NotificationObserver(of: DataProtection.unlocked) { _ in host.changed() }
            state.withLock { $0.notifications = observer }
            throw PreferencesError(
                .unavailable,
                "the device was not unlocked since it started, so user defaults can't be read yet and nothing is "
                    + "written to them; try again later"
            )
        }
        let observer = makeObserver(defaults) { [weak self] in self?.suspect([$0]) }
        state.withLock { state in
            state.host = host
            state.observer = observer
            state.notifications = nil
        }
        return [:]
    }

    func values(for names: Set<String>) -> [String: PropertyListValue] {
        var values: [String: PropertyListValue] = [:]
        for name in names { values[name] = value(for: name) }
        return values
    }

    private func value(for name: String) -> PropertyListValue? {
        // First observe, then read, so that no change falls between.
        if SharedUserDefaults.canObserve(name) {
            state.withLock { $0.observer }?.observe(name)
        } else if state.withLock({ $0.notifications == nil }) {
            let notifications = NotificationObserver(of: UserDefaults.didChangeNotification) { [weak self] _ in
                self?.suspectUnobservable()
            }
            state.withLock { $0.notifications = notifications }
        }
        let value = read(name)
        state.withLock { state in
            state.names.insert(name)
            state.known[name] = value
        }
        return value
    }

    func refresh() -> [String: PropertyListValue?] {
        compare(state.withLock { $0.suspects })
        return state.withLock { exchange(&$0.untold, with: [:]) }
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        let (names, suspects) = state.withLock { ($0.names, $0.suspects) }
        let used = condition.isComplete ? names : names.intersection(Set(changes.keys).union(condition.values.keys))
        compare(used.union(suspects))
        let known = state.withLock { $0.known }
        let isStored = condition.holds(for: known.values)
        if isStored {
            let changes = changes.filter { known[$0.key] != $0.value }
            try check(changes, over: known)
            state.withLock { state in
                for (name, value) in changes { state.known[name] = value }
                state.queue.append(changes)
            }
        }
        return PreferenceBackendCommit(outside: state.withLock { exchange(&$0.untold, with: [:]) }, isStored: isStored)
    }

    func didApply() {
        while let (name, value) = state.withLock({ $0.queue.next() }) {
            if let value {
                defaults.object.set(value.propertyList, forKey: name)
            } else {
                defaults.object.removeObject(forKey: name)
            }
            let host = state.withLock { state in
                state.queue.finish(name)
                return state.suspects.contains(name) ? state.host : nil
            }
            host?.changed()
        }
    }

    /// Waits until the system's process has everything; when that one writes it to the disk nobody is told.
    func sync() throws(PreferencesError) {
        didApply()
        guard defaults.object.synchronize() else {
            throw PreferencesError(.notDurable, "user defaults could not be synchronized; try again")
        }
    }

    func isManaged(_ name: String) -> Bool {
        defaults.object.objectIsForced(forKey: name)
    }
}

extension UserDefaultsBackend {
    private func suspect(_ names: Set<String>) {
        guard !names.isEmpty else { return }
        state.withLock { state in
            state.suspects.formUnion(names)
            return state.host
        }?.changed()
    }

    private func suspectUnobservable() {
        suspect(state.withLock { $0.names.filter { !SharedUserDefaults.canObserve($0) } })
    }

    /// Notes what the defaults have under these names, unless something is queued for them.
    private func compare(_ names: Set<String>) {
        let names = state.withLock { state in
            let names = names.filter { !state.queue.holds($0) }
            state.suspects.subtract(names)
            return names
        }
        for name in names {
            let found = read(name)
            state.withLock { state in
                let known = state.known[name]
                if let found, let known, found.isSame(as: known) { return }
                guard found != known else { return }
                state.known[name] = found
                state.untold.updateValue(found, forKey: name)
            }
        }
    }

    private func read(_ name: String) -> PropertyListValue? {
        guard let object = defaults.object.object(forKey: name) else { return nil }
        if let value = PropertyListValue(propertyList: object) { return value }
        state.withLock { $0.host }?.report(
            PreferencesError(.unreadable, name: name, "user defaults hold a \(type(of: object)), which is no value")
        )
        return nil
    }

    /// Throws where the defaults would not take the changes.
    private func check(
        _ changes: [String: PropertyListValue?],
        over known: UserDefaultsContents
    ) throws(PreferencesError) {
        if let name = changes.keys.first(where: isManaged) {
            throw PreferencesError(
                .managed,
                name: name,
                "the value is managed by an administrator and can't be changed here; nothing was changed"
            )
        }
        let after = known.size(with: changes)
        guard after > known.size else { return }
        try sizeLimit.check(after)
        let isFirst = state.withLock { state in
            guard sizeLimit.isNear(after), !state.isWarned else { return false }
            state.isWarned = true
            return true
        }
        if isFirst { state.withLock { $0.host }?.report(sizeLimit.warning(after)) }
    }
}
#endif

#if canImport(Darwin) || STANDINS
/// Values of user defaults, and about how many bytes they take together.
struct UserDefaultsContents {
    private(set) var values: [String: PropertyListValue] = [:]
    private(set) var size = 0

    subscript(name: String) -> PropertyListValue? {
        get { values[name] }
        set {
            size += Self.size(of: newValue, named: name) - Self.size(of: values[name], named: name)
            values[name] = newValue
        }
    }

    /// The size once these changes are made.
    func size(with changes: [String: PropertyListValue?]) -> Int {
        changes.reduce(size) { size, change in
            size + Self.size(of: change.value, named: change.key) - Self.size(of: values[change.key], named: change.key)
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
    private var isWriting = false

    mutating func append(_ changes: [String: PropertyListValue?]) {
        for (name, value) in changes {
            entries.append((name, value))
            counts[name, default: 0] += 1
        }
    }

    /// Whether anything of a name is not written.
    func holds(_ name: String) -> Bool { counts[name] != nil }

    /// What to write next; nil where nothing waits, or another thread writes it. Followed by `finish`.
    mutating func next() -> (name: String, value: PropertyListValue?)? {
        guard !isWriting, head < entries.count else { return nil }
        isWriting = true
        defer { head += 1 }
        return entries[head]
    }

    /// Notes that what `next` gave is written.
    mutating func finish(_ name: String) {
        isWriting = false
        counts[name] = counts[name].flatMap { $0 > 1 ? $0 - 1 : nil }
        guard head == entries.count else { return }
        entries.removeAll()
        head = 0
    }
}
#endif
