internal import DurableFile

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if !canImport(Darwin)
extension SharedStore {
    /// Returns the user's file, between the managed settings above it and the system's defaults below it; for the state, a file alone.
    package func layers() -> [Layer] {
        do throws(PreferenceError) {
            if self == .state {
                let path = try SuiteLocation.statePath(of: ApplicationIdentifier.fix())
                return FileStores.store(at: path).asLayers
            }
            let location = try location()
            let user = FileStores.store(at: location.userPath)
            return [.managed(location.managed)] + user.asLayers + location.system.map { .system($0) }
        } catch {
            return [Layer(source: Source(NoBackend(because: error)))]
        }
    }

    /// Throws nothing: every name that a folder can have is valid.
    package static func checkSuite(_ name: String) throws(PreferenceError) {}

    func location() throws(PreferenceError) -> SuiteLocation {
        switch self {
        case .standard, .state: try SuiteLocation(ApplicationIdentifier.fix(), isOfProgram: true)
        case .suite(let name): try SuiteLocation(name, isOfProgram: ApplicationIdentifier.isPlaced(name))
        }
    }
}

extension Layer {
    static func managed(_ files: DropIns) -> Layer { .managed(Source(DropInBackend(files))) }
    static func system(_ files: DropIns) -> Layer { .system(Source(DropInBackend(files))) }
}
#endif

/// The stores over files: one for each file while it is referenced, however often it is requested.
///
/// A store follows the path by which it was first requested. It is also the store of each other path that leads to the same file
/// at the time of a request. If a link is changed after that, the store stays that of its own path alone, also for those who
/// requested it by another one.
enum FileStores {
    // Weak to the store only: each change of the reference count of an object with a weak reference takes 150 instructions
    // more, and a set changes those of the source and the backend.
    private struct Entry {
        let path: String
        weak var store: PreferenceStore?
        /// The path without links that the store's path led to when it was added.
        let real: String
    }

    private struct Registry {
        /// The stores, ordered by the bytes of the path that they follow.
        // Not a dictionary: the first one by strings looks up how these are hashed, among all conformances in the process.
        var entries: [Entry] = []
        /// The number of stores that were ever added.
        var count = 0

        func store(at path: String) -> PreferenceStore? {
            let place = place(of: path)
            return place < entries.count && entries[place].path.hasBytes(of: path) ? entries[place].store : nil
        }

        /// Returns the index of the entry of a path, or the index at which to insert it.
        func place(of path: String) -> Int {
            var (start, end) = (0, entries.count)
            while start < end {
                let middle = (start + end) / 2
                if entries[middle].path.utf8.lexicographicallyPrecedes(path.utf8) {
                    start = middle + 1
                } else {
                    end = middle
                }
            }
            return start
        }
    }

    private static let registry = Lock(Registry())

    /// Takes the lock for a `fork` unless another thread has it, and returns whether it did.
    static func take() -> Bool { registry.take() }
    static func release(inChild: Bool) { registry.release(inChild: inChild) }

    /// Forgets the stores of the parent, whose files get new stores in a child of `fork`.
    static func startInChild() {
        let entries = registry.withLock { registry in
            defer { registry.entries = [] }
            return registry.entries
        }
        withExtendedLifetime(entries) {}
    }

    /// Returns the store of a file.
    static func store(
        at path: String,
        durability: PreferenceDurability = .background,
        trustsOwner: Bool = false
    ) -> PreferenceStore {
        let store = registry.withLock { $0.store(at: path) } ?? findOrAdd(path)
        let backend = store.core.layers.writable?.backend as? FileBackend
        backend?.raiseDurability(to: durability)
        // Inside a body with the lock of a file, the owner was checked when the file was opened.
        if trustsOwner, !RunningBody.isAlone { backend?.trustOwner() }
        return store
    }

    private static func findOrAdd(_ path: String) -> PreferenceStore {
        var looks = 0
        while true {
            looks += 1
            // The stores that are looked at are released after the lock: these may be their last references.
            let (stores, count) = registry.withLock { registry in
                (registry.entries.map { (path: $0.path, real: $0.real, store: $0.store) }, registry.count)
            }
            // Without the lock, as a file system might not answer.
            let real = LogPath(path: path).real()
            for known in stores where known.real.hasBytes(of: real) {
                if let store = known.store, LogPath(path: known.path).real().hasBytes(of: real) { return store }
            }
            // A file with another name, or at the end of a link or below a folder that was changed since.
            let file = identity(of: path)
            for known in stores {
                guard let store = known.store else { continue }
                let isSame =
                    if let file { file == identity(of: known.path) } else {
                        LogPath(path: known.path).real().hasBytes(of: real)
                    }
                if isSame { return store }
            }
            // Else the file was created or replaced in between, or another thread has added a store, perhaps of this file.
            // Not for ever, as some file systems number a file otherwise at each look.
            guard looks > 3 || file == identity(of: path) else { continue }
            if let store = add(path, real, removing: stores.map { $0.store == nil }, ifCountIs: count) { return store }
        }
    }

    /// Returns the identity of the file that a path leads to; nil if it isn't there or can't be looked at.
    private static func identity(of path: String) -> FileIdentity? {
        do { return try SystemFileSystem().status(at: path).identity } catch { return nil }
    }

    /// Adds a store unless another one was added since they were counted; removes the entries of those that are gone.
    private static func add(
        _ path: String,
        _ real: String,
        removing isGone: [Bool],
        ifCountIs count: Int
    ) -> PreferenceStore? {
        let store = PreferenceStore(Layer(source: Source(FileBackend(path: path))))
        return registry.withLock { registry in
            guard registry.count == count else { return nil }
            registry.count += 1
            if isGone.contains(true) {
                registry.entries = registry.entries.indices.filter { !isGone[$0] }.map { registry.entries[$0] }
            }
            let entry = Entry(path: path, store: store, real: real)
            let place = registry.place(of: path)
            // Inserting creates one more type, which takes 10,000 instructions the first time.
            if place == registry.entries.count {
                registry.entries.append(entry)
            } else {
                registry.entries.insert(entry, at: place)
            }
            return store
        }
    }
}

extension String {
    /// Whether the bytes are the same: for the kernel, two spellings of one character are two names.
    fileprivate func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension PreferenceStore {
    /// Opens the store over a file.
    ///
    /// The first write creates the file and its folders if they don't exist. The same file gives the same store, however often it
    /// is requested, with the strongest durability that was requested. The article *On-disk format* describes the file's
    /// format.
    ///
    /// Links are followed at each use: if one is changed, the store shows and writes the file that its path leads to then, and
    /// another request for the old file gives another store; a store that another path already has of the new file remains a second
    /// one, to which these writes are external changes. A store that was requested by several paths follows the first of them;
    /// so request a store again by the file's own path after the change of a link by which another part of the program uses it.
    ///
    /// - Parameters:
    ///   - url: The file's URL; by convention its name ends in `.jsonl`.
    ///   - durability: The time from which a write survives a loss of power. It always survives the death of the process.
    ///   - trustsOwner: Whether the file is used regardless of the owners of it and its folder; see `trustsOwners`.
    /// - Throws: An error if the file can't be opened or read, or has a newer format.
    public static func file(
        at url: URL,
        durability: PreferenceDurability = .background,
        trustsOwner: Bool = false
    ) throws(PreferenceError) -> PreferenceStore {
        let path = try url.pathOfFile()
        let store = FileStores.store(at: path, durability: durability, trustsOwner: trustsOwner)
        try store.core.layers.writable?.open()
        return store
    }

    /// The file that receives the store's writes; `nil` if it isn't stored in a file.
    ///
    /// The file need not exist yet.
    public var location: URL? {
        (resolved.core.layers.writable?.backend as? FileBackend).map { URL(filePath: $0.path) }
    }
}

extension FileBackend {
    /// Creates a backend over a file, and opens nothing yet: if the file can't be used, `load` throws.
    ///
    /// The first `apply` creates the file and its folders if they don't exist.
    ///
    /// - Parameters:
    ///   - url: The file's URL.
    ///   - durability: The time from which a change survives a loss of power; by default within about 100 milliseconds.
    ///   - isWatched: Whether the host is told when another process changed the file; true by default. If not, changes are found by
    ///     `catchUp` and `apply`.
    /// - Throws: `invalidName` if it isn't a file URL.
    public convenience init(
        at url: URL,
        durability: PreferenceDurability = .background,
        isWatched: Bool = true
    ) throws(PreferenceError) {
        self.init(path: try url.pathOfFile(), durability: durability, watcher: isWatched ? .shared : nil)
    }
}

extension URL {
    /// Returns the path of a file.
    ///
    /// - Throws: `invalidName` if it isn't a file URL whose path is UTF-8.
    func pathOfFile() throws(PreferenceError) -> String {
        guard isFileURL, !path.isEmpty else {
            throw PreferenceError(.invalidName, "\(self) isn't a file URL with a path of UTF-8; use URL(filePath:)")
        }
        return path
    }
}
