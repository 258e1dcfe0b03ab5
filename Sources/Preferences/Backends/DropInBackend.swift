internal import DurableFile

/// Files of JSON lines that are read as one file.
struct DropIns: Hashable, Sendable {
    /// The folders with drop-ins, the strongest first: a file replaces those of its name in weaker folders.
    var folders: [String] = []
    /// The files that are read after the drop-ins, in their order.
    var files: [String]

    /// Returns the paths in the order in which they are read; `unlisted` is called with a folder that can't be listed.
    func paths(
        _ fileSystem: any FileSystem,
        unlisted: (FileSystemError) -> Void
    ) throws(FileSystemError) -> [String] {
        var paths: [String: String] = [:]
        for folder in folders {
            for name in try names(in: folder, fileSystem, unlisted: unlisted) where paths[name] == nil {
                paths[name] = folder + "/" + name
            }
        }
        let dropIns = paths.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
        // As for systemd's own files, a link to /dev/null takes the place of a file and has no values.
        return dropIns.filter { LogPath(path: $0).real(fileSystem) != "/dev/null" } + files
    }

    private func names(
        in folder: String,
        _ fileSystem: any FileSystem,
        unlisted: (FileSystemError) -> Void
    ) throws(FileSystemError) -> [String] {
        do {
            return try fileSystem.names(inFolder: folder).filter { $0.hasSuffix(".jsonl") && !$0.hasPrefix(".") }
        } catch {
            switch error.code {
            case .noEntry, .notAFolder: return []
            // None of its files is known.
            case .accessDenied:
                unlisted(error)
                return []
            default: throw error
            }
        }
    }
}

/// A backend over files that are only read, drop-ins and the file that wins over them, as if they were one.
///
/// Each file is read, watched and checked as the file of a store that is only read.
final class DropInBackend: PlacedBackend {
    private let places: DropIns
    private let fileSystem: any FileSystem
    private let watcher: Watcher?
    private let notifier = WorkerQueue()
    private let state = Lock(State())

    fileprivate struct State {
        var host: PreferenceBackendHost?
        /// The watches of the folders.
        var watches: [Watch] = []
        /// The files by their paths, and whether each was read.
        var files: [String: (log: LogFile<FileEntries>, isRead: Bool)] = [:]
        var values: [String: PropertyListValue] = [:]
        /// The path of the file that has set each value.
        var paths: [String: String] = [:]
        var reported: Set<String> = []
    }

    init(_ places: DropIns, fileSystem: any FileSystem = SystemFileSystem(), watcher: Watcher? = .shared) {
        self.places = places
        self.fileSystem = fileSystem
        self.watcher = watcher
    }

    func path(of name: String?) -> String? {
        let path = name.flatMap { name in state.withLock { $0.paths[name] } }
        return path ?? places.files.last
    }

    func line(of name: String) -> Int? {
        let log = state.withLock { state in state.paths[name].flatMap { state.files[$0]?.log } }
        return log?.bytes(atMost: 4 << 20).flatMap { JSONLine.numbers(in: $0, joinsLines: true)[name] }
    }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        state.withLock { $0.host = host }
        // Watched before they are listed, so that no change is missed in between.
        if state.withLock({ $0.watches.isEmpty }), let watcher {
            let watches = places.folders.map { folder in
                watcher.watch(folder, isFolder: true) { [weak self] event in self?.handle(event) }
            }
            state.withLock { $0.watches = watches }
        }
        try readFiles()
        return state.withLock { $0.values }
    }

    func catchUp() throws(PreferenceError) {
        let old = state.withLock { $0.values }
        defer {
            state.withLock { state in
                let changes = state.values.changes(since: old)
                state.host?.collect(changes)
            }
        }
        try readFiles()
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        throw PreferenceError(onlyRead: places.files.last ?? "")
    }

    /// Reads what has changed in all files, and then throws the error of the first that can't be read: its values stay.
    private func readFiles() throws(PreferenceError) {
        var problem: PreferenceError?
        let paths: [String]
        do throws(FileSystemError) {
            paths = try places.paths(fileSystem) { report(unlisted: $0) }
        } catch { throw PreferenceError(LogError.failed(error)) }
        for path in paths {
            do throws(LogError) { try read(path) } catch { problem = problem ?? PreferenceError(error) }
        }
        let gone = state.withLock { state in
            let known = state.files
            state.files = known.filter { paths.contains($0.key) }
            state.merge(paths)
            return known
        }
        withExtendedLifetime(gone) {}
        if let problem { throw problem }
    }

    private func read(_ path: String) throws(LogError) {
        let (log, isRead) = state.withLock { state in
            if let known = state.files[path] { return known }
            let log = LogFile<FileEntries>(
                path: path,
                isReadOnly: true,
                trustsOwners: TrustedOwners.setting.fix().value,
                fileSystem: fileSystem,
                watcher: watcher
            )
            state.files[path] = (log, false)
            return (log, false)
        }
        if isRead {
            try log.catchUp()
        } else {
            let observer = LogObserver(
                changed: { [weak self] in self?.notifyHost() },
                damaged: { [weak self] damage in self?.report(PreferenceError(damage)) },
                failed: { [weak self] error in self?.report(PreferenceError(error)) }
            )
            do throws(LogError) { try log.load(observer: observer) } catch {
                log.withContents { $0.isLoadPending = true }
                throw error
            }
            state.withLock { $0.files[path]?.isRead = true }
        }
    }

    private func notifyHost() { state.withLock { $0.host }?.changed() }

    private func report(_ error: PreferenceError) { state.withLock { $0.host }?.report(error) }

    /// Reports once that the files of a folder are taken as missing, unless the folder is in one that can't be entered: then its own
    /// file is.
    private func report(unlisted error: FileSystemError) {
        do { _ = try fileSystem.status(at: error.path) } catch { return }
        guard state.withLock({ $0.reported.insert(error.path).inserted }) else { return }
        report(
            PreferenceError(
                .notPermitted,
                "the files in \(error.path) are taken as missing, because the folder can't be listed; let this user list it",
                cause: error
            )
        )
    }

    /// Has the store list the folders once nothing has happened to them for a moment.
    private func handle(_ event: WatchEvent) -> WatchFinding? {
        guard case .idle = event else { return WatchFinding(isBlank: false, hasChanges: false) }
        notifier.run { [weak self] in self?.notifyHost() }
        return WatchFinding(isBlank: false, hasChanges: true)
    }
}

extension DropInBackend.State {
    fileprivate mutating func merge(_ order: [String]) {
        (values, paths) = ([:], [:])
        for path in order {
            for (name, value) in files[path]?.log.withContents({ $0.drain() }) ?? [:] {
                values[name] = value
                paths[name] = value == nil ? nil : path
            }
        }
    }
}

/// The entries of a file that is only read, with the names that it removes.
private final class FileEntries: LogContents, @unchecked Sendable {  // used under its log's lock only
    private var entries: [String: PropertyListValue?] = [:]
    /// The entries of a last line without its end.
    private var unfinished: [String: PropertyListValue?] = [:]
    private var hasNews = false
    /// Whether the file could not be read yet.
    var isLoadPending = false

    init() {}

    func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        hasNews = true
        return LineReading { () throws(JSONLineError) in
            try JSONLine.read(line, isFirst: isFirst) { entries.updateValue($1, forKey: $0) }
        }
    }

    func lengthOfObject(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int? {
        JSONLine.lengthOfObject(bytes, isFirst: isFirst)
    }

    func readUnfinished(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        hasNews = true
        return LineReading { () throws(JSONLineError) in
            try JSONLine.read(line, isFirst: isFirst) { unfinished.updateValue($1, forKey: $0) }
        }
    }

    func dropUnfinished() { unfinished = [:] }

    func replace(with contents: FileEntries) {
        (entries, unfinished, hasNews) = (contents.entries, contents.unfinished, true)
    }

    func copy() -> FileEntries {
        let copy = FileEntries()
        copy.replace(with: self)
        return copy
    }

    var hasChanges: Bool { hasNews || isLoadPending }

    // The file is never written.
    func lines(inPlaceOf old: UnsafeRawBufferPointer, isRequested: Bool) -> [UInt8] { [] }
    var lineCount: Int { 0 }

    /// Returns the entries, which are known from now on.
    func drain() -> [String: PropertyListValue?] {
        (hasNews, isLoadPending) = (false, false)
        return entries.merging(unfinished) { $1 }
    }
}
