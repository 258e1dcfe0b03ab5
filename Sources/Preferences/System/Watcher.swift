internal import CPreferences
internal import Synchronization

/// The thread that waits for changes in folders and calls closures that return at once; they look at the files on other threads.
final class Watcher: Sendable {
    /// A folder or file in which changes are waited for: those of a name, or all if that is nil.
    struct Place {
        let path: String
        let name: String?
        let interest: FileSystem.Interest
    }

    /// Called on the watcher's thread with whether a path might lead elsewhere now; it must not wait.
    typealias Body = @Sendable (_ isMove: Bool) -> Void

    private let system: FileSystem
    private let generation = preferences_generation()
    private let state = Lock(State())

    private struct State: ~Copyable {
        var queue: Int32?
        var targets = NameTable<Target>()
        var lastNumber = 0
    }

    /// A watched name, or all names of a folder, by the number of the kernel's watch and the name.
    final class Target: Named {
        let watch: Int32
        var observers: [(number: Int, body: Body)] = []
        /// For all names: how many targets the kernel's watch has.
        var count = 0

        init(_ key: String, _ watch: Int32) {
            self.watch = watch
            super.init(key)
        }
    }

    /// Places that are watched until it is released.
    final class Watch: Sendable {
        fileprivate let watcher: Watcher
        fileprivate let number: Int
        fileprivate let queue: Int32
        fileprivate let keys: [String]

        fileprivate init(_ watcher: Watcher, _ number: Int, _ queue: Int32, _ keys: [String]) {
            (self.watcher, self.number, self.queue, self.keys) = (watcher, number, queue, keys)
        }

        deinit { watcher.remove(number, queue, keys) }

        /// Whether the kernel still reports.
        var isRunning: Bool { watcher.state.withLock { $0.queue == queue } }
    }

    init(_ system: FileSystem) { self.system = system }

    /// Calls `body` at each change in the places.
    func watch(_ places: [Place], _ body: @escaping Body) throws(FileSystemError) -> Watch {
        var (number, queue) = (0, Int32(-1))
        var keys: [String] = []
        do throws(FileSystemError) {
            try state.withLock { state throws(FileSystemError) in
                if state.queue == nil { state.queue = try start() }
                guard let opened = state.queue else { fatalError("the queue was just opened") }
                queue = opened
                state.lastNumber += 1
                number = state.lastNumber
                for place in places {
                    // Adding a folder again returns its number.
                    let watch = try system.addWatch(place.path, for: place.interest, to: queue)
                    let target = state.targets.find("\(watch)/\(place.name ?? "")") { Target($0, watch) }
                    target.observers.append((number, body))
                    state.targets.find("\(watch)/") { Target($0, watch) }.count += 1
                    keys.append(target.name)
                }
            }
        } catch {
            // Those that were added are removed.
            _ = Watch(self, number, queue, keys)
            throw error
        }
        return Watch(self, number, queue, keys)
    }

    private func start() throws(FileSystemError) -> Int32 {
        let queue = try system.openWatchQueue()
        let context = Unmanaged.passRetained(self).toOpaque()
        let code = preferences_start_thread(
            { context in
                if let context { Unmanaged<Watcher>.fromOpaque(context).takeRetainedValue().run() }
            },
            context
        )
        guard code == 0 else {
            Unmanaged<Watcher>.fromOpaque(context).release()
            system.close(queue)
            throw FileSystemError(call: "pthread_create", path: "", code: code)
        }
        return queue
    }

    private func remove(_ number: Int, _ queue: Int32, _ keys: [String]) {
        // A child of `fork` has its parent's queue.
        guard generation == preferences_generation() else { return }
        let removed = state.withLock { state in
            var removed: [Target] = []
            guard state.queue == queue else { return removed }
            for key in keys {
                guard let target = state.targets[key] else { continue }
                removed.append(target)
                // The closures are released without the lock: they may have the last references to sources.
                let left = Target(key, target.watch)
                (left.observers, left.count) = (target.observers.filter { $0.number != number }, target.count)
                state.targets.remove(key)
                if !left.observers.isEmpty || left.count > 0 { _ = state.targets.find(key) { _ in left } }
                guard let all = state.targets["\(target.watch)/"] else { continue }
                all.count -= 1
                guard all.count == 0 else { continue }
                state.targets.remove(all.name)
                system.removeWatch(target.watch, from: queue)
            }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    private func run() {
        guard let queue = state.withLock({ $0.queue }) else { return }
        var last = ContinuousClock.now
        while true {
            var bodies: [Body] = []
            var moved: [Body] = []
            do throws(FileSystemError) {
                try system.readWatchEvents(queue) { event in
                    let found = state.withLock { Self.bodies(of: event, in: $0) }
                    if event.isMove { moved += found } else { bodies += found }
                }
            } catch {
                // The program has closed the descriptor, or there is no memory: the files are polled, until a new queue can be opened.
                return end()
            }
            for body in moved { body(true) }
            for body in bodies { body(false) }
            // Own writes are events, too: in a burst of them, the kernel joins those that wait here.
            let now = ContinuousClock.now
            if now - last < .milliseconds(1) { system.sleep(nanoseconds: 5_000_000) }
            last = now
        }
    }

    private static func bodies(of event: FileSystem.WatchEvent, in state: borrowing State) -> [Body] {
        // After lost events, and for the folder itself, all are called.
        guard event.watch != -1, !event.name.isEmpty else {
            var all: [Body] = []
            state.targets.forEach {
                if event.watch == -1 || $0.watch == event.watch { all += $0.observers.map(\.body) }
            }
            return all
        }
        return (state.targets["\(event.watch)/\(event.name)"]?.observers ?? []).map(\.body)
            + (state.targets["\(event.watch)/"]?.observers ?? []).map(\.body)
    }

    private func end() {
        let targets = state.withLock { state in
            // They are released without the lock, as in `remove`.
            var all: [Target] = []
            state.targets.forEach { all.append($0) }
            state.targets = NameTable()
            state.queue = nil
            return all
        }
        for target in targets { for observer in target.observers { observer.body(true) } }
    }
}

/// The watch of some paths, which is renewed when they lead elsewhere. Used within a turn.
final class PathWatch {
    private let watcher: Watcher
    private let system: FileSystem
    private var watch: Watcher.Watch?
    private var paths: [String] = []
    private let isStale = Flag()

    /// Whether a path might lead elsewhere now.
    private final class Flag: Sendable { let value = Atomic(true) }

    init(_ watcher: Watcher, _ system: FileSystem) { (self.watcher, self.system) = (watcher, system) }

    /// Watches files, folders with all their names, and all links and folders on the way to them; `changed` is called at each change from
    /// now on, so the caller looks at them after this.
    ///
    /// - Returns: Whether the kernel reports all changes; otherwise the caller has to look again after `pollInterval`.
    func update(_ files: [String], folders: [String] = [], _ changed: @escaping @Sendable () -> Void) -> Bool {
        let paths = files + folders
        if !isStale.value.exchange(false, ordering: .acquiringAndReleasing), paths == self.paths,
            watch?.isRunning == true
        {
            return true
        }
        self.paths = paths
        do throws(FileSystemError) {
            var walks = try self.walks(paths)
            // A folder that is created or replaced between the walk and the watch would be missed.
            for _ in 0..<5 {
                let places = try places(walks, files, folders)
                guard let places else { break }
                watch = try watcher.watch(places) { [isStale] isMove in
                    if isMove { isStale.value.store(true, ordering: .releasing) }
                    changed()
                }
                let now = try self.walks(paths)
                if now == walks { return true }
                walks = now
            }
        } catch {
            // No descriptor, no watch of the kernel, or a folder that was removed just now.
        }
        watch = nil
        return false
    }

    /// In nanoseconds.
    static let pollInterval: Int64 = 500_000_000

    private func walks(_ paths: [String]) throws(FileSystemError) -> [PathWalk] {
        var walks: [PathWalk] = []
        for path in paths { walks.append(try PathWalk(path, system)) }
        return walks
    }

    /// Returns what to watch, the folders above first; nil if another machine might change it without an event.
    private func places(_ walks: [PathWalk], _ files: [String], _ folders: [String]) throws(FileSystemError) -> [Watcher
        .Place]?
    {
        var places: [Watcher.Place] = []
        for (index, walk) in walks.enumerated() {
            let isFile = index < files.count
            for (number, entry) in walk.entries.enumerated() {
                let isLast = number == walk.entries.count - 1
                // A folder that this user can traverse but not read is rarely replaced.
                if !isLast, !entry.isLink {
                    if !system.isReadable(entry.folder) { continue }
                } else if try system.isRemote(entry.folder) {
                    return nil
                }
                let isContent = isFile && isLast && entry.folder.entry(entry.name) == walk.real
                places.append(
                    Watcher.Place(path: entry.folder, name: entry.name, interest: isContent ? .contents : .names)
                )
            }
            do throws(FileSystemError) {
                if isFile {
                    // Its content might change under another name, also on another machine.
                    guard try system.hasOtherNames(walk.real) else { continue }
                    if try system.isRemote(walk.real) { return nil }
                    places.append(Watcher.Place(path: walk.real, name: nil, interest: .file))
                } else if try system.status(at: walk.real).isFolder {
                    if try system.isRemote(walk.real) { return nil }
                    places.append(Watcher.Place(path: walk.real, name: nil, interest: .contents))
                }
            } catch { if !error.hidesEntry { throw error } }
        }
        return places
    }
}
