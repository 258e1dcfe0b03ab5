internal import CPreferences

/// The thread that waits for changes in folders and tells those who asked; they look at the files on their own threads.
final class Watcher: Sendable {
    private let system: FileSystem
    private let generation = preferences_generation()
    private let state = Lock(State())

    private struct State: ~Copyable {
        var queue: Int32?
        var places = NameTable<Place>()
        var lastNumber = 0
    }

    /// A name in a folder, or all of them, and who watches it.
    final class Place: Named {
        let folder: Int32
        var observers: [(number: Int, changed: @Sendable () -> Void)] = []
        /// For all names: how many places of the folder there are.
        var count = 0

        init(_ key: String, _ folder: Int32) {
            self.folder = folder
            super.init(key)
        }
    }

    /// What is watched until it is released.
    final class Watch: Sendable {
        fileprivate let watcher: Watcher
        fileprivate let number: Int
        fileprivate let keys: [String]

        fileprivate init(_ watcher: Watcher, _ number: Int, _ keys: [String]) { (self.watcher, self.number, self.keys) = (watcher, number, keys) }

        deinit { watcher.remove(number, keys) }
    }

    init(_ system: FileSystem) { self.system = system }

    /// Calls `changed` at each change of the names in the folders, or of all if the name is nil, on the watcher's thread; it must not wait.
    func watch(_ places: [(folder: String, name: String?)], _ changed: @escaping @Sendable () -> Void) throws(FileSystemError) -> Watch {
        try state.withLock { state throws(FileSystemError) in
            if state.queue == nil { state.queue = try start() }
            guard let queue = state.queue else { fatalError("the queue was just opened") }
            state.lastNumber += 1
            var keys: [String] = []
            for place in places {
                // Adding a folder again returns its number.
                let folder = try system.addWatch(place.folder, to: queue)
                let watched = state.places.find("\(folder)/\(place.name ?? "")") { Place($0, folder) }
                watched.observers.append((state.lastNumber, changed))
                state.places.find("\(folder)/") { Place($0, folder) }.count += 1
                keys.append(watched.name)
            }
            return Watch(self, state.lastNumber, keys)
        }
    }

    private func start() throws(FileSystemError) -> Int32 {
        let queue = try system.openWatchQueue()
        let context = Unmanaged.passRetained(self).toOpaque()
        let code = preferences_start_thread({ context in
            if let context { Unmanaged<Watcher>.fromOpaque(context).takeUnretainedValue().run() }
        }, context)
        guard code == 0 else {
            system.close(queue)
            throw FileSystemError(call: "pthread_create", path: "", code: code)
        }
        return queue
    }

    private func remove(_ number: Int, _ keys: [String]) {
        // A child of `fork` has its parent's queue.
        guard generation == preferences_generation() else { return }
        let removed = state.withLock { state in
            var removed: [Place] = []
            for key in keys {
                guard let place = state.places[key] else { continue }
                removed.append(place)
                // The closures are released without the lock: they may have the last references to sources.
                let left = Place(key, place.folder)
                (left.observers, left.count) = (place.observers.filter { $0.number != number }, place.count)
                state.places.remove(key)
                if !left.observers.isEmpty || left.count > 0 { _ = state.places.find(key) { _ in left } }
                guard let all = state.places["\(place.folder)/"], let queue = state.queue else { continue }
                all.count -= 1
                guard all.count == 0 else { continue }
                state.places.remove(all.name)
                system.removeWatch(place.folder, from: queue)
            }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    private func run() {
        guard let queue = state.withLock({ $0.queue }) else { return }
        var last = ContinuousClock.now
        while true {
            var told: [@Sendable () -> Void] = []
            system.readWatchEvents(queue) { folder, name in
                state.withLock { state in
                    // After lost events, and for the folder itself, all are told.
                    if folder == -1 || name.isEmpty {
                        state.places.forEach { if folder == -1 || $0.folder == folder { told += $0.observers.map(\.changed) } }
                    } else {
                        told += state.places["\(folder)/\(name)"]?.observers.map(\.changed) ?? []
                        told += state.places["\(folder)/"]?.observers.map(\.changed) ?? []
                    }
                }
            }
            for changed in told { changed() }
            // Own writes are events, too: in a burst of them, the kernel joins those that wait here.
            let now = ContinuousClock.now
            if now - last < .milliseconds(1) { system.sleep(nanoseconds: 5_000_000) }
            last = now
        }
    }
}
