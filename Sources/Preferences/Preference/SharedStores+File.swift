internal import Synchronization

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
                return FileStores.store(at: try SuiteLocation.statePath(of: ApplicationIdentifier.fix())).asLayers
            }
            let location = try location()
            let user = FileStores.store(at: location.userPath)
            return [.managed(location.managed)] + user.asLayers + location.system.map { .system($0) }
        } catch {
            return [Layer(source: Source(NoBackend(error)))]
        }
    }

    /// Throws nothing: every name that a folder can have is valid.
    package static func checkSuite(_ name: String) throws(PreferenceError) {}

    func location() throws(PreferenceError) -> SuiteLocation {
        let environment = SuiteLocation.Environment.current
        guard case .suite(let name) = self else {
            return try SuiteLocation(ApplicationIdentifier.fix(), isOfProgram: true, environment: environment)
        }
        return try SuiteLocation(name, isOfProgram: Self.isPlaced(name, environment), environment: environment)
    }

    /// Returns whether a suite is that of the program, and has a place of its own in a service; then the program's name can't be changed
    /// afterwards.
    private static func isPlaced(_ suite: String, _ environment: SuiteLocation.Environment) -> Bool {
        guard environment.isOfService else { return false }
        do throws(PreferenceError) { return try ApplicationIdentifier.fix() == suite } catch { return false }
    }
}

extension PreferenceStore {
    /// The managed settings for this program, as a read-only layer: `/etc/<suite>/managed.jsonl` of the standard suite, and over it
    /// the drop-ins `<suite>/managed.d/*.jsonl` in `/etc`, `/run` and `/usr/lib`.
    ///
    /// `.standard` and every `.suite` include their own already.
    public static var managed: PreferenceStore { layers("managed") { [.managed($0.managed)] } }

    /// The system's defaults for this program, as a read-only layer: `<suite>/preferences.jsonl` in each of `$XDG_CONFIG_DIRS`, below the
    /// weakest of these `/etc/<suite>/preferences.jsonl`, and over it the drop-ins `<suite>/preferences.d/*.jsonl`.
    ///
    /// `.standard` and every `.suite` include their own already.
    public static var system: PreferenceStore { layers("system") { $0.system.map { .system($0) } } }

    private static func layers(_ key: String, _ make: @escaping @Sendable (SuiteLocation) -> [Layer]) -> PreferenceStore
    {
        Process.current.shared(key, isKept: true) {
            PreferenceStore {
                do throws(PreferenceError) { return make(try SharedStore.standard.location()) } catch { return [] }
            }
        }
    }
}
#endif

extension Layer {
    static func managed(_ files: FilePlaces) -> Layer { .managed(Source(ReadOnlyFiles(files))) }
    static func system(_ files: FilePlaces) -> Layer { .system(Source(ReadOnlyFiles(files))) }

    static func managed(_ source: Source) -> Layer {
        var layer = Layer(source: source).readOnly(named: "managed")
        layer.isManaged = true
        return layer
    }

    static func system(_ source: Source) -> Layer { Layer(source: source).readOnly(named: "system") }
}

/// The stores over files: one for each file while it is referenced, however often it is requested.
///
/// A store follows the path by which it was first requested. It is also the store of the path without links to which that led then, and of
/// all others that lead there, while it still does.
enum FileStores {
    /// Has a process forget the keys of a file when its backend is released.
    private final class Registration: Sendable {
        let process: Process
        let keys: [String]

        init(_ process: Process, _ keys: [String]) { (self.process, self.keys) = (process, keys) }

        deinit { process.forget(keys) }
    }

    /// Returns the store of a file, whose path is absolute.
    static func store(at path: String) -> PreferenceStore {
        let process = Process.current
        let key = key(path)
        if let store = process.known(key, as: PreferenceStore.self), self.key(store.path) == key { return store }
        let real = self.real(path)
        while true {
            let known = process.known(real, as: PreferenceStore.self)
            if let known, self.real(known.path) == real { return known }
            // The source may still live, with values to be stored.
            let source = process.shared("source " + key) {
                let backend = FileBackend(path, .system, process, trustsOwner: TrustedOwners.setting.fix().value)
                backend.registration = Registration(process, [key, real, "source " + key])
                return Source(backend)
            }
            let store = PreferenceStore(Layer(source: source))
            if process.share(store, as: [key, real], inPlaceOf: known) { return store }
        }
    }

    /// Returns the key of the path without links that a path leads to, or of the path itself if that can't be known now.
    private static func real(_ path: String) -> String {
        do throws(FileSystemError) { return key(try PathWalk(path, .system).real) } catch { return key(path) }
    }

    /// Returns the key of a path. For the kernel, two spellings of one character are two names.
    private static func key(_ path: String) -> String {
        path.utf8.allSatisfy { $0 < 128 }
            ? path : String(String.UnicodeScalarView(path.utf8.map { Unicode.Scalar($0) }))
    }
}

extension PreferenceStore {
    /// The path that a store of `FileStores` follows.
    fileprivate var path: String { core.layers[0].source.backend.place }

    /// Opens the store over a file.
    ///
    ///     let project = try PreferenceStore.file(at: "/srv/player/project.jsonl")
    ///
    /// The first write creates the file and its folders if they don't exist. The same file gives the same store, however often it
    /// is requested, with the strongest durability that was requested. The article *On-disk format* describes the file's format.
    ///
    /// Links are followed at each use: if one is changed, the store shows and writes the file that its path leads to then. A store that was
    /// requested by several paths follows the first of them; so request a store again by the file's own path after the change of a link by
    /// which another part of the program uses it. Names of one file that are no links, such as those of `ln` without `-s`, give two stores.
    ///
    /// - Parameters:
    ///   - path: The file's path, which is one in the current folder unless it begins with a slash; by convention its name ends in
    ///     `.jsonl`.
    ///   - durability: The time from which a write survives a loss of power. It always survives the death of the process.
    ///   - trustsOwner: Whether the file is used regardless of the owners of it and its folder; see `trustsOwners`.
    /// - Throws: An error if the file can't be opened or read, or has a newer format.
    public static func file(
        at path: String,
        durability: PreferenceDurability = .background,
        trustsOwner: Bool = false
    ) throws(PreferenceError) -> PreferenceStore {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw PreferenceError(.invalidName, "\"\(path)\" isn't the path of a file")
        }
        let store = FileStores.store(at: CurrentProcess.absolute(path))
        let source = store.core.layers[0].source
        if durability == .immediate { source.syncsEachChange.store(true, ordering: .relaxed) }
        if trustsOwner { (source.backend as? FileBackend)?.trustOwner() }
        do { try source.open(until: source.timeout, reports: false) } catch {
            throw PreferenceError(.unavailable, from: error)
        }
        return store
    }

    /// Opens the store over a file, as the form for a path does.
    ///
    /// - Parameters:
    ///   - url: The file's URL.
    ///   - durability: The time from which a write survives a loss of power; by default within about 100 milliseconds.
    ///   - trustsOwner: Whether the file is used regardless of the owners of it and its folder; see `trustsOwners`.
    /// - Throws: An error if the file can't be opened or read, or has a newer format; `invalidName` if it isn't a file URL.
    public static func file(
        at url: URL,
        durability: PreferenceDurability = .background,
        trustsOwner: Bool = false
    ) throws(PreferenceError) -> PreferenceStore {
        try file(at: try url.pathOfFile(), durability: durability, trustsOwner: trustsOwner)
    }

    /// The file that receives the store's writes; `nil` if it isn't stored in a file.
    ///
    /// The file need not exist yet.
    public var location: URL? {
        (resolved.core.target?.backend as? FileBackend).map { URL(filePath: $0.place) }
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
