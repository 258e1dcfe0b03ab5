internal import DurableFile

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if !canImport(Darwin)
extension SharedStore {
    /// The user's file, below the managed settings and above the system's defaults.
    func layers() -> [Layer] {
        do throws(PreferencesError) {
            let location = try location()
            let user = FileStores.store(at: location.userPath, isRecovering: true)
            return [.managed(file: location.managedPath)] + user.asLayers
                + location.systemPaths.map { .system(file: $0) }
        } catch {
            let source = Source(NoBackend(because: error))
            source.recover()
            return [Layer(source: source)]
        }
    }

    /// Every name that a folder can have can be a suite's.
    static func checkSuite(_ name: String) throws(PreferencesError) {}

    func location() throws(PreferencesError) -> SuiteLocation {
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

/// The stores that lie in files: one for each file, however often it is asked for, while somebody uses it.
enum FileStores {
    // Of the store alone: what a weak reference points to takes 150 instructions more each time its references are counted,
    // and a set counts those of the source and the backend.
    private struct Entry {
        weak var store: PreferenceStore?
    }

    private static let entries = Lock<[String: Entry]>([:])

    /// The store of a file; one that recovers keeps what is set while the file can't be opened.
    static func store(at path: String, durability: PreferenceDurability = .background, isRecovering: Bool = false)
        -> PreferenceStore
    {
        // However a file is named, it is one store, also before it or its folder exists.
        let key = LogPath(path: path).real()
        let (store, _) = entries.withLock { entries -> (PreferenceStore, others: [PreferenceStore]) in
            if let store = entries[key]?.store { return (store, []) }
            // Those that are looked at leave the lock alive: one of these may be the last reference.
            let others = entries.compactMapValues(\.store)
            entries = entries.filter { others[$0.key] != nil }
            let store = PreferenceStore(Layer(source: Source(FileBackend(path: path, durability: durability))))
            entries[key] = Entry(store: store)
            return (store, Array(others.values))
        }
        let source = store.core.layers.writable
        (source?.backend as? FileBackend)?.promise(durability)
        if isRecovering { source?.recover() }
        return store
    }
}

extension PreferenceStore {
    /// Opens the store that lies in a file.
    ///
    /// A file that doesn't exist is made, with its folders, by the first set. One file gives one store, however often
    /// it is asked for, with the strongest durability that was asked for. The form of the file is described in *On-disk
    /// format*.
    ///
    /// - Parameters:
    ///   - url: The file's URL; by habit its name ends in `.jsonl`.
    ///   - durability: When a set survives the loss of power; the death of the process it survives in any case.
    /// - Throws: Where the file can't be opened or read, or is of a newer format.
    public static func file(
        at url: URL,
        durability: PreferenceDurability = .background
    ) throws(PreferencesError) -> PreferenceStore {
        guard url.isFileURL else {
            throw PreferencesError(.invalidName, "\(url) is no file URL; use URL(filePath:)")
        }
        let store = FileStores.store(at: url.path, durability: durability)
        try store.core.layers.writable?.open()
        return store
    }

    /// The file that takes the store's writes; `nil` if they go elsewhere.
    ///
    /// It need not exist yet.
    public var location: URL? {
        (resolved.core.layers.writable?.backend as? FileBackend).map { URL(filePath: $0.path) }
    }
}
