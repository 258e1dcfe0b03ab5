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
    }

    private static let entries = Lock<[String: Entry]>([:])

    /// Returns the store of a file.
    static func store(
        at path: String,
        durability: PreferenceDurability = .background,
        trustsOwner: Bool = false
    ) -> PreferenceStore {
        // The same file is one store under all its paths, even before it or its folder exists.
        let key = LogPath(path: path).real()
        let (store, _) = entries.withLock { entries -> (PreferenceStore, others: [PreferenceStore]) in
            if let store = entries[key]?.store { return (store, []) }
            // The stores that were looked at are released after the lock: these may be their last references.
            let others = entries.compactMapValues(\.store)
            entries = entries.filter { others[$0.key] != nil }
            let store = PreferenceStore(Layer(source: Source(FileBackend(path: path, durability: durability))))
            entries[key] = Entry(store: store)
            return (store, Array(others.values))
        }
        let backend = store.core.layers.writable?.backend as? FileBackend
        backend?.raiseDurability(to: durability)
        if trustsOwner { backend?.trustOwner() }
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
    ///   - trustsOwner: Whether the file is used whoever owns it, its folder and the links to it; see `trustsOwners`.
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
