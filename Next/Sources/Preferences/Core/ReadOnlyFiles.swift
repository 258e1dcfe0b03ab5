/// Files that are only read: one, and over it all of some folders' files of a kind in the order of their names, where one in an earlier folder
/// replaces one of the same name in later ones. Each file keeps its last good values while it can't be read; one that couldn't be read yet has
/// none, and all others count.
final class ReadOnlyFiles: Backend, @unchecked Sendable {  // used within a turn
    let place: String
    let isWritable = false
    let saysWhenItWaits = true
    private let folders: [String]
    private let system: FileSystem
    private let process: Process
    private var watch: Watcher.Watch?
    private var watched: [String] = []
    private var changed: (@Sendable () -> Void)?
    /// The files that exist or did, the weakest first.
    private var files: [File] = []
    private var folderProblems: [PreferenceError] = []

    private final class File {
        let log: Log
        var values: [StoredChange] = []
        var failure: PreferenceError?
        init(_ log: Log) { self.log = log }
    }

    init(_ path: String, folders: [String] = [], _ system: FileSystem, _ process: Process) {
        (place, self.folders, self.system, self.process) = (path, folders, system, process)
    }

    var problems: [PreferenceError] { folderProblems + files.flatMap { ($0.failure.map { [$0] } ?? []) + $0.log.damage } }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        changed = host.changed
        _ = read()
        return files.flatMap(\.values)
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { read() ? .contents(after: [], files.flatMap(\.values)) : .none }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        throw PreferenceError(.readOnly, "\(place) is only read; nothing was changed")
    }

    /// Looks at all files; returns whether one has other values.
    private func read() -> Bool {
        let paths = paths()
        watchPlaces(paths)
        let known = Dictionary(uniqueKeysWithValues: files.map { ($0.log.path, $0) })
        var isChanged = false
        files = paths.map { known[$0] ?? File(Log($0, system)) }
        if Set(paths) != Set(known.keys) { isChanged = true }
        for file in files { if read(file) { isChanged = true } }
        if files.contains(where: \.log.isUnsettled), let changed { process.pool.run(after: 60_000_000, changed) }
        return isChanged
    }

    private func read(_ file: File) -> Bool {
        do throws(FileSystemError) {
            let update = try file.log.look()
            // What is listed in a folder and is missing is a link to nothing.
            if file.log.path != place, file.log.isMissing { throw FileSystemError(call: "open", path: file.log.path, code: 2) }
            file.failure = nil
            switch update {
            case .none: return false
            case .changes(let lines): file.values += lines.joined()
            case .contents(_, let values): file.values = values
            }
            return true
        } catch {
            let kept = file.values.isEmpty ? "it is left out" : "its last values stay"
            file.failure = PreferenceError(.unavailable, "\(file.log.path) can't be read; \(kept)", cause: error)
            return false
        }
    }

    /// The paths of the files, the weakest first. A folder that can't be listed keeps its last ones.
    private func paths() -> [String] {
        folderProblems = []
        var paths: [String: String] = [:]
        for folder in folders.reversed() {
            do throws(FileSystemError) {
                for name in try system.names(inFolder: folder) where name.hasSuffix(".jsonl") { paths[name] = "\(folder)/\(name)" }
            } catch {
                if error.isMissing { continue }
                folderProblems.append(PreferenceError(.unavailable, "\(folder) can't be listed; its last values stay", cause: error))
                for file in files where file.log.path.folder == folder { paths[file.log.path.lastComponent] = file.log.path }
            }
        }
        return [place] + paths.sorted { $0.key < $1.key }.map(\.value)
    }

    private func watchPlaces(_ paths: [String]) {
        guard let changed else { return }
        var places = paths.flatMap { Log($0, system).places() }
        // A folder that exists is watched whole; one that doesn't, where it would appear.
        for folder in folders { places += Log(folder, system).places() + [(folder, nil)] }
        let names = places.map { "\($0.folder)/\($0.name ?? "")" }
        guard names != watched else { return }
        do throws(FileSystemError) {
            watch = try process.watcher.watch(places.filter { place in place.name != nil || exists(place.folder) }, changed)
            watched = names
        } catch {
            // Without a watch, changes are seen at the next refresh.
        }
    }

    private func exists(_ folder: String) -> Bool {
        do throws(FileSystemError) { return try system.status(at: folder).isFolder } catch { return false }
    }
}
