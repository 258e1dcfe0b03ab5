internal import CPreferences
internal import Synchronization

/// The threads and shared objects of one process: a child of `fork` gets its own, and opens its own stores.
final class Process: @unchecked Sendable {  // constants, and what `lock` guards
    /// Guards what is one for all: the newest process, its shared objects, the list of the publish locks, and which of them lead where. Taken
    /// before a publish lock, never under one.
    static let lock = Lock<Void>(())

    private let generation = preferences_generation()
    let pool = Pool()
    let watcher = Watcher(.system)
    /// The sources with kept values, which are stored even if nothing else refers to them.
    @exclusivity(unchecked) private var keeping: [Source] = []
    /// The objects that are the same for all who ask for them, by path or name.
    @exclusivity(unchecked) private var shared = NameTable<Shared>()

    final class Shared: Named {
        weak var object: AnyObject?
        var kept: AnyObject?
    }

    nonisolated(unsafe) private static var newest: Process?

    /// Registers the handlers once.
    private static let handlers: Void = {
        preferences_handle_forks({ PublishLock.lockAll() }, { PublishLock.unlockAll() })
        preferences_handle_exit { Process.current.exit() }
    }()

    /// The one that the process which calls has.
    static var current: Process {
        _ = handlers
        return lock.withLock { _ in
            if let newest, newest.generation == preferences_generation() { return newest }
            // A parent's stays, as its threads would use it.
            if let newest { _ = Unmanaged.passRetained(newest) }
            let process = Process()
            newest = process
            return process
        }
    }

    // MARK: Shared objects

    /// Returns the object that is known by a key.
    func known<Object: AnyObject>(_ key: String, as _: Object.Type = Object.self) -> Object? {
        Self.lock.withLock { _ in shared[key]?.object }.map { unsafeDowncast($0, to: Object.self) }
    }

    /// Whether an object is known by a key, or its keys weren't forgotten.
    func isKnown(_ key: String) -> Bool { Self.lock.withLock { _ in shared[key] != nil } }

    /// Returns the object that is known by a key, or makes it.
    ///
    /// - Parameter isKept: Whether the process keeps it; another one's maker calls `forget` when it is released.
    func shared<Object: AnyObject>(_ key: String, isKept: Bool = false, _ make: () -> Object) -> Object {
        if let known = known(key, as: Object.self) { return known }
        let made = make()
        return share(made, as: [key], isKept: isKept) ? made : shared(key, isKept: isKept) { made }
    }

    /// Makes an object known by keys; returns false if the last of them is that of another one, which isn't `old`.
    func share(_ object: AnyObject, as keys: [String], isKept: Bool = false, inPlaceOf old: AnyObject? = nil) -> Bool {
        // Those that were known are released without the lock: these might be the last references.
        var others: [AnyObject?] = []
        let isShared = Self.lock.withLock { _ in
            others.append(keys.last.flatMap { shared[$0]?.object })
            guard others[0] == nil || others[0] === old else { return false }
            for key in keys {
                let entry = shared.find(key) { Shared($0) }
                others.append(entry.object)
                (entry.object, entry.kept) = (object, isKept ? object : nil)
            }
            return true
        }
        return withExtendedLifetime(others) { isShared }
    }

    /// Forgets keys whose object is being released.
    func forget(_ keys: [String]) {
        var others: [AnyObject?] = []
        Self.lock.withLock { _ in
            for key in keys {
                let known = shared[key]?.object
                if known == nil { shared.remove(key) }
                others.append(known)
            }
        }
        withExtendedLifetime(others) {}
    }

    // MARK: Kept values

    /// Has a source stay until its kept values are stored; called whenever that may have changed, without the publish lock.
    func noteKeeping(_ source: Source) {
        Self.lock.withLock { _ in
            let isKept = source.hasKept.load(ordering: .acquiring)
            guard keeping.contains(where: { $0 === source }) != isKept else { return }
            if isKept { keeping.append(source) } else { keeping.removeAll { $0 === source } }
        }
    }

    private func exit() {
        let sources = Self.lock.withLock { _ in keeping }
        // All deadlines begin now.
        var deadlines = sources.map(\.unattended)
        for index in deadlines.indices { _ = deadlines[index].start() }
        for (source, deadline) in zip(sources, deadlines) { source.storeAtExit(until: deadline) }
    }
}

extension Pool {
    /// The threads of the calling process.
    package static var current: Pool { Process.current.pool }
}
