internal import DurableFile

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if !canImport(Darwin)
extension SharedStore {
    /// Returns the user's file, between the managed settings above it and the system's defaults below it.
    func layers() -> [Layer] {
        do throws(PreferenceError) {
            let location = try location()
            let user = FileStores.store(at: location.userPath)
            return [.managed(file: location.managedPath)] + user.asLayers
                + location.systemPaths.map { .system(file: $0) }
        } catch {
            return [Layer(source: Source(NoBackend(because: error)))]
        }
    }

    /// Throws nothing: every name that a folder can have is valid.
    static func checkSuite(_ name: String) throws(PreferenceError) {}

    func location() throws(PreferenceError) -> SuiteLocation {
        switch self {
        case .standard: try SuiteLocation(ApplicationIdentifier.fix())
        case .suite(let name): try SuiteLocation(name)
        }
    }
}

extension Layer {
    static func managed(file: String) -> Layer { .managed(Source(FileBackend(path: file, isReadOnly: true))) }
    static func system(file: String) -> Layer { .system(Source(FileBackend(path: file, isReadOnly: true))) }
}
#endif

/// The stores over files: one for each file while it is referenced, however often it is requested.
enum FileStores {
    // Weak to the store only: each change of the reference count of an object with a weak reference takes 150 instructions
    // more, and a set changes those of the source and the backend.
    private struct Entry {
        weak var store: PreferenceStore?
        /// The path by which the store was first requested, and which it follows.
        let path: String
    }

    /// The stores by the path without links that theirs led to when it was last looked at.
    private static let entries = Lock<[String: [Entry]]>([:])

    /// Returns the store of a file.
    static func store(
        at path: String,
        durability: PreferenceDurability = .background,
        trustsOwner: Bool = false
    ) -> PreferenceStore {
        // The same file is one store under all its paths, even before it or its folder exists.
        let key = LogPath(path: path).real()
        let store = entries.withLock { registered(path, $0[key]) } ?? find(path, key) ?? add(path, key)
        let backend = store.core.layers.writable?.backend as? FileBackend
        backend?.raiseDurability(to: durability)
        if trustsOwner { backend?.trustOwner() }
        return store
    }

    private static func registered(_ path: String, _ entries: [Entry]?) -> PreferenceStore? {
        entries?.first { $0.path == path && $0.store != nil }?.store
    }

    /// Returns the store whose path leads to the same file now, which might have another name or be reached by a link that was
    /// changed since.
    private static func find(_ path: String, _ key: String) -> PreferenceStore? {
        let known = entries.withLock { entries in
            entries.flatMap { key, entries in
                entries.compactMap { entry in entry.store.map { (key: key, path: entry.path, store: $0) } }
            }
        }
        if known.isEmpty { return nil }
        // Without the lock, as a file system might not answer.
        let file = identity(of: path)
        var found: PreferenceStore?
        // A store that was requested by this path comes first: there might be one for each path if a link was changed.
        let sorted = known.filter { $0.path == path } + known.filter { $0.path != path }
        for entry in sorted where found == nil {
            let isSame = file.map { $0 == identity(of: entry.path) } ?? false
            guard isSame || file == nil && LogPath(path: entry.path).real() == key else { continue }
            found = entry.store
            if entry.key != key { move(entry.path, entry.key, to: key) }
        }
        // These may be the last references.
        return withExtendedLifetime(known) { found }
    }

    /// Returns the identity of the file that a path leads to; nil if it isn't there or can't be looked at.
    private static func identity(of path: String) -> FileIdentity? {
        do { return try SystemFileSystem().status(at: path).identity } catch { return nil }
    }

    private static func move(_ path: String, _ old: String, to new: String) {
        entries.withLock { entries in
            let moved = entries[old]?.filter { $0.path == path } ?? []
            entries[old]?.removeAll { $0.path == path }
            entries[new, default: []] += moved
        }
    }

    private static func add(_ path: String, _ key: String) -> PreferenceStore {
        let (store, _) = entries.withLock { entries -> (PreferenceStore, others: [PreferenceStore]) in
            if let store = registered(path, entries[key]) { return (store, []) }
            // The stores that were looked at are released after the lock: these may be their last references.
            let others = entries.values.flatMap { $0.compactMap(\.store) }
            entries = entries.mapValues { $0.filter { $0.store != nil } }.filter { !$0.value.isEmpty }
            let store = PreferenceStore(Layer(source: Source(FileBackend(path: path))))
            entries[key, default: []].append(Entry(store: store, path: path))
            return (store, others)
        }
        return store
    }
}

extension PreferenceStore {
    /// Opens the store over a file.
    ///
    /// The first set creates the file and its folders if they don't exist. The same file gives the same store, however often it
    /// is requested, with the strongest durability that was requested. The article *On-disk format* describes the file's
    /// format.
    ///
    /// - Parameters:
    ///   - url: The file's URL; by convention its name ends in `.jsonl`.
    ///   - durability: The time from which a set survives a loss of power. It always survives the death of the process.
    ///   - trustsOwner: Whether the file is used regardless of the owners of it, its folder and the links to it; see `trustsOwners`.
    /// - Throws: An error if the file can't be opened or read, or has a newer format.
    public static func file(
        at url: URL,
        durability: PreferenceDurability = .background,
        trustsOwner: Bool = false
    ) throws(PreferenceError) -> PreferenceStore {
        guard url.isFileURL else {
            throw PreferenceError(.invalidName, "\(url) isn't a file URL; use URL(filePath:)")
        }
        let store = FileStores.store(at: url.path, durability: durability, trustsOwner: trustsOwner)
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
