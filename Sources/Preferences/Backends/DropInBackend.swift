package import DurableFile

/// Files of JSON lines that are read as one file.
package struct DropIns: Hashable, Sendable {
    /// The folders with drop-ins, the strongest first: a file replaces those of its name in weaker folders.
    package var folders: [String] = []
    /// The files that are read after the drop-ins, in their order.
    package var files: [String]

    /// Returns the paths in the order in which the files are read, each followed by those of the files that it replaces.
    ///
    /// - Parameter names: The names of the drop-ins in each of the folders.
    func paths(of names: [[String]], _ fileSystem: any FileSystem) -> [[String]] {
        var paths: [String: [String]] = [:]
        for (folder, names) in zip(folders, names) {
            for name in names { paths[name, default: []].append(folder + "/" + name) }
        }
        let dropIns = paths.sortedByBytes.map(\.value)
        // As for systemd's own files, a link to /dev/null takes the place of a file and has no values.
        return dropIns.filter { LogPath(path: $0[0]).real(fileSystem) != "/dev/null" } + files.map { [$0] }
    }
}

/// The drop-ins in a folder, and the state of the folder from before they were listed.
private struct Listing: Equatable {
    let identity: FileIdentity
    let times: ChangeTimes
    let names: [String]

    init(of folder: String, _ fileSystem: any FileSystem) throws(FileSystemError) {
        identity = try fileSystem.status(at: folder).identity
        times = try fileSystem.changeTimes(at: folder)
        names = try fileSystem.names(inFolder: folder).filter { $0.hasSuffix(".jsonl") && !$0.hasPrefix(".") }
    }
}

/// A backend over files that are only read, drop-ins and the file that wins over them, as if they were one.
///
/// Each file is read, watched and checked as the file of a store that is only read.
package final class DropInBackend: PreferenceBackend {
    private let places: DropIns
    private let fileSystem: any FileSystem
    private let watcher: Watcher?
    private let notifier = WorkerQueue()
    private let state = Lock(State())

    fileprivate struct State {
        var host: PreferenceBackendHost?
        /// The watches of the folders.
        var watches: [Watch] = []
        /// The folders as they were when they could last be listed.
        var listings: [String: Listing] = [:]
        var isNotifying = false
        /// The files by their paths, and whether each was read.
        var files: [String: (log: LogFile<FileEntries>, isRead: Bool)] = [:]
        var values: [String: PropertyListValue] = [:]
        /// The path of the file that has set each value.
        var paths: [String: String] = [:]
        /// The paths of the files in force, in the order in which they are read.
        var order: [String] = []
        var reported: Set<String> = []
    }

    package init(_ places: DropIns, fileSystem: any FileSystem = SystemFileSystem(), watcher: Watcher? = .shared) {
        self.places = places
        self.fileSystem = fileSystem
        self.watcher = watcher
    }

    package var isWrittenByHand: Bool { true }

    package func path(of name: String?) -> String? {
        let path = name.flatMap { name in state.withLock { $0.paths[name] } }
        return path ?? places.files.last
    }

    /// The values of each file in force, without those that a file after it overrides or removes.
    package var contentsOfFiles: [(path: String, contents: [String: PropertyListValue])] {
        state.withLock { state in
            state.order.map { path in (path, state.values.filter { state.paths[$0.key] == path }) }
        }
    }

    package func line(of name: String) -> Int? {
        let log = state.withLock { state in state.paths[name].flatMap { state.files[$0]?.log } }
        return log?.bytes(atMost: 4 << 20).flatMap { JSONLine.numbers(in: $0, joinsLines: true)[name] }
    }

    package func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        state.withLock { $0.host = host }
        // Watched before they are listed, so that no change is missed in between.
        if state.withLock({ $0.watches.isEmpty }), let watcher {
            let watches = places.folders.map { folder in
                watcher.watch(folder, isFolder: true) { [weak self] event in self?.handle(event, folder) }
            }
            state.withLock { $0.watches = watches }
        }
        try readFiles()
        return state.withLock { $0.values }
    }

    package func catchUp() throws(PreferenceError) {
        let old = state.withLock { $0.values }
        defer {
            state.withLock { state in
                let changes = state.values.changes(since: old)
                state.host?.collect(changes)
            }
        }
        try readFiles()
    }

    package func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        throw PreferenceError(onlyRead: places.files.last ?? "")
    }

    /// Reads what has changed in all files, and then throws the first error: values that were read before stay.
    private func readFiles() throws(PreferenceError) {
        var problem: PreferenceError?
        let names = places.folders.map { folder in
            do throws(FileSystemError) { return try self.names(in: folder) } catch {
                problem = problem ?? PreferenceError(LogError.failed(error))
                return state.withLock { $0.listings[folder]?.names } ?? []
            }
        }
        var (order, used): ([String], Set<String>) = ([], [])
        for paths in places.paths(of: names, fileSystem) {
            used.insert(paths[0])
            do throws(LogError) { try read(paths[0], isListed: !places.files.contains(paths[0])) } catch {
                problem = problem ?? PreferenceError(error)
            }
            // If it was never read, the file that it replaces stays in force.
            if let path = state.withLock({ state in paths.first { state.files[$0]?.isRead == true } }) {
                order.append(path)
            }
        }
        used.formUnion(order)
        take(order, used)
        if let problem { throw problem }
    }

    /// Takes over the values of files in their order, and drops the files that aren't used any more.
    private func take(_ order: [String], _ used: Set<String>) {
        var (values, paths): ([String: PropertyListValue], [String: String]) = ([:], [:])
        let files = state.withLock { $0.files }
        for path in order {
            for (name, value) in files[path]?.log.withContents({ $0.drain() }) ?? [:] {
                values[name] = value
                paths[name] = value == nil ? nil : path
            }
        }
        state.withLock { state in
            (state.values, state.paths, state.order) = (values, paths, order)
            state.files = files.filter { used.contains($0.key) }
        }
    }

    /// Returns the names of the drop-ins in a folder; throws if some that are in force can't be listed.
    private func names(in folder: String) throws(FileSystemError) -> [String] {
        do {
            let listing = try Listing(of: folder, fileSystem)
            state.withLock { $0.listings[folder] = listing }
            return listing.names
        } catch {
            switch error.code {
            case .noEntry, .notAFolder:
                state.withLock { $0.listings[folder] = nil }
                return []
            // None of its files is known.
            case .accessDenied where state.withLock({ $0.listings[folder] == nil }):
                report(unlisted: error)
                return []
            default: throw error
            }
        }
    }

    /// Reads a file, which is known to exist if its folder lists it.
    private func read(_ path: String, isListed: Bool) throws(LogError) {
        let (log, isRead) = state.withLock { state in
            if let known = state.files[path] { return known }
            let log = LogFile<FileEntries>(
                path: path,
                isReadOnly: true,
                isKnown: isListed,
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

    /// Has the store read the files, once for all changes that are noticed until then.
    private func notifyHost() {
        guard state.withLock({ !exchange(&$0.isNotifying, with: true) }) else { return }
        notifier.run { [weak self] in
            let host = self?.state.withLock { state in
                state.isNotifying = false
                return state.host
            }
            host?.changed()
        }
    }

    private func report(_ error: PreferenceError) { state.withLock { $0.host }?.report(error) }

    /// Reports once that the files of a folder are treated as missing, unless the folder is in one that can't be entered: then its own
    /// file is.
    private func report(unlisted error: FileSystemError) {
        do { _ = try fileSystem.status(at: error.path) } catch { return }
        guard state.withLock({ $0.reported.insert(error.path).inserted }) else { return }
        report(
            PreferenceError(
                .notPermitted,
                "the files in \(error.path) are treated as missing, because the folder can't be listed; let this user list it",
                cause: error
            )
        )
    }

    /// Has the store list the folders if nothing has happened to one for a moment, and it isn't as it was listed.
    private func handle(_ event: WatchEvent, _ folder: String) -> WatchFinding? {
        guard case .idle = event else { return WatchFinding(isBlank: false, hasChanges: false) }
        let known = state.withLock { $0.listings[folder] }
        var listing: Listing?
        do { listing = try Listing(of: folder, fileSystem) } catch {
            // It is gone, or can't be listed.
        }
        guard listing != known else { return WatchFinding(isBlank: false, hasChanges: false) }
        notifyHost()
        return WatchFinding(isBlank: false, hasChanges: true)
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

    func dropUnfinished() {
        if !unfinished.isEmpty { hasNews = true }
        unfinished = [:]
    }

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
