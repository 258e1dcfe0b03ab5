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
    /// The sources with kept values, which are stored even if nobody else has them.
    @exclusivity(unchecked) private var keeping: [Source] = []
    /// The objects that are the same for all who ask for them, by path or name.
    @exclusivity(unchecked) private var shared = NameTable<Shared>()

    final class Shared: Named { weak var object: AnyObject? }

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

    /// Returns the object that is known by a key, or makes it.
    func shared<Object: AnyObject & Sendable>(_ key: String, _ make: () -> Object) -> Object {
        if let known = Self.lock.withLock({ _ in shared[key]?.object }) { return unsafeDowncast(known, to: Object.self) }
        let made = make()
        return Self.lock.withLock { _ in
            if let known = shared[key]?.object { return unsafeDowncast(known, to: Object.self) }
            shared.find(key) { Shared($0) }.object = made
            return made
        }
    }

    /// Forgets a key whose object is being released.
    func forget(_ key: String) {
        let known = Self.lock.withLock { _ in
            let known = shared[key]?.object
            if known == nil { shared.remove(key) }
            return known
        }
        // It might have become the last reference.
        withExtendedLifetime(known) {}
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
        var deadlines = sources.map(\.timeout)
        for index in deadlines.indices { _ = deadlines[index].start() }
        for (source, deadline) in zip(sources, deadlines) { source.storeAtExit(until: deadline) }
    }
}

extension Pool {
    /// The threads of the calling process.
    package static var current: Pool { Process.current.pool }
}
