internal import CPreferences

/// The files of a place that is only read.
package struct FilePlaces: Hashable, Sendable {
    /// The folders with drop-ins, the strongest first: a file replaces those of its name in weaker folders.
    package var folders: [String] = []
    /// The files below the drop-ins, the weakest first.
    package var files: [String]

    package init(folders: [String] = [], files: [String]) { (self.folders, self.files) = (folders, files) }

    /// Reads the files once; returns what each changes in the weaker ones, in their order, and the problems.
    package func read() -> (files: [(path: String, changes: [StoredChange])], problems: [PreferenceError]) {
        let files = ReadOnlyFiles(self)
        return (files.readOnce(), files.problems)
    }
}

/// Files that are only read, as one: some in their order, and over them the drop-ins of some folders in the order of their names.
///
/// Each file keeps its last good state while it can't be read; one that couldn't be read yet has none, and all others count.
final class ReadOnlyFiles: Backend, @unchecked Sendable {  // used within a turn, except `shown`
    let place: String
    let isWritable = false
    let saysWhenItWaits = true
    private let places: FilePlaces
    /// Whether each file is one object, as people write settings; else it has lines.
    private let areObjects: Bool
    private let system: FileSystem
    private let process: Process
    private let now: @Sendable () -> Int64
    private var host: PreferenceBackendHost?
    private let watch: PathWatch
    /// The files that are there, or were a second ago.
    private var files = NameTable<File>()
    /// The drop-ins in each folder when it could last be listed.
    private var listings: [[String]?]
    private var folderProblems: [PreferenceError] = []
    /// The files of the last pass, the weakest first.
    private var order: [File] = []
    private var pass = 0
    /// Whether a pass has found other values.
    private var isChanged = false
    /// When the files are looked at again by themselves, if they are.
    private var nextLook: Int64?
    /// The texts of the files, in their order, for messages.
    private let shown = Lock<[(path: String, text: ReadOnlyText)]>([])

    private static let second: Int64 = 1_000_000_000

    /// A file and its last good state.
    private final class File: Named {
        /// The bytes of the last good state; nil if there is none.
        var bytes: [UInt8]?
        var text = ReadOnlyText()
        /// That of the file, unless it went or couldn't be read since.
        var status: FileStatus?
        var failure: PreferenceError?
        /// When it was first found missing; its values don't count then.
        var missingSince: Int64?
        /// The bytes of a text that might not be saved completely, and since when the file changes and has these.
        var saving: (bytes: [UInt8], since: Int64, quiet: Int64)?
        var pass = 0

        var shown: ReadOnlyText { missingSince == nil ? text : ReadOnlyText() }
    }

    /// Creates the backend.
    ///
    /// - Parameter now: Returns the time in nanoseconds.
    init(
        _ places: FilePlaces,
        areObjects: Bool = false,
        _ system: FileSystem = .system,
        now: @escaping @Sendable () -> Int64 = { preferences_now() }
    ) {
        (self.places, self.areObjects, self.system, self.now) = (places, areObjects, system, now)
        process = Process.current
        place = places.files.last ?? ""
        listings = places.folders.map { _ in nil }
        watch = PathWatch(process.watcher, system)
    }

    var problems: [PreferenceError] {
        folderProblems + order.flatMap { ($0.failure.map { [$0] } ?? []) + $0.shown.damage }
    }

    var readingError: PreferenceError? {
        if let problem = folderProblems.first(where: { $0.code == .unavailable }) { return problem }
        // A damaged text that is replaced by what was read before is reported only.
        return order.lazy.compactMap { file in file.failure.map { ($0, file.bytes != nil) } }
            .first { failure, isGood in failure.code == .unavailable || failure.code != .notPermitted && !isGood }?.0
    }

    func describe(_ name: String?) -> StoredPlace {
        for (path, text) in shown.withLock({ $0 }).reversed() {
            guard let entry = text.entries.last(where: { $0.change.name == name }) else { continue }
            return StoredPlace(path: path, line: entry.line, isWrittenByHand: true)
        }
        return StoredPlace(path: place, isWrittenByHand: true)
    }

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        self.host = host
        read(isFirst: true)
        return order.flatMap { $0.shown.entries.map(\.change) }
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges {
        read(isFirst: false)
        return isChanged ? .contents(after: [], order.flatMap { $0.shown.entries.map(\.change) }) : .none
    }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        throw PreferenceError(.readOnly, "\(place) is only read; nothing was changed")
    }

    // MARK: Reading

    /// Reads the files without watching them.
    fileprivate func readOnce() -> [(path: String, changes: [StoredChange])] {
        read(isFirst: true)
        return order.map { ($0.name, $0.shown.entries.map(\.change)) }
    }

    /// Looks at all files.
    private func read(isFirst: Bool) {
        let now = now()
        if let nextLook, nextLook <= now { self.nextLook = nil }
        (isChanged, pass) = (false, pass + 1)
        let dropIns = watchAndList()
        let before = order
        order = places.files.map { read($0, isListed: false, isFirst, now) }
        for paths in dropIns {
            // If it was never read, the file that it replaces stays in force.
            for path in paths {
                let file = read(path, isListed: true, isFirst, now)
                order.append(file)
                if file.bytes != nil { break }
            }
        }
        var gone: [String] = []
        files.forEach { file in
            guard file.pass != pass else { return }
            noteMissing(file, now)
            if now - (file.missingSince ?? now) > Self.second { gone.append(file.name) }
        }
        for name in gone { files.remove(name) }
        if !order.elementsEqual(before, by: ===) { isChanged = true }
        if order.contains(where: { $0.saving != nil }) { lookLater(60_000_000) }
        guard isChanged else { return }
        let replaced = shown.withLock { exchange(&$0, with: order.map { ($0.name, $0.shown) }) }
        withExtendedLifetime(replaced) {}
    }

    /// Reads a file, which exists if its folder lists it.
    private func read(_ path: String, isListed: Bool, _ isFirst: Bool, _ now: Int64) -> File {
        let file = files.find(path) { File($0) }
        file.pass = pass
        do throws(FileSystemError) {
            let (bytes, status) = try Self.contents(of: path, system)
            let text = areObjects ? ReadOnlyText(object: bytes, of: path) : ReadOnlyText(lines: bytes, of: path)
            if isFirst || isSaved(file, bytes, status, text, now) { take(text, bytes, status, file) }
        } catch {
            if error.isMissing, !isListed || !exists(path) {
                noteMissing(file, now)
            } else if isListed || file.bytes != nil || !isOutOfReach(path) {
                fail(
                    file,
                    PreferenceError(.unavailable, "\(path) can't be read; \(outcome(file, now))", cause: error),
                    now
                )
            } else {
                file.failure = PreferenceError(
                    .notPermitted,
                    "\(path) is treated as missing, because a folder on the way to it can't be entered; if the file exists, let this user "
                        + "enter its folders",
                    cause: error
                )
            }
        }
        return file
    }

    private func take(_ text: ReadOnlyText, _ bytes: [UInt8], _ status: FileStatus?, _ file: File) {
        file.saving = nil
        if let error = text.error { return fail(file, error, now()) }
        if file.bytes != bytes || file.missingSince != nil { isChanged = true }
        (file.bytes, file.text, file.status, file.failure, file.missingSince) = (bytes, text, status, nil, nil)
    }

    private func fail(_ file: File, _ failure: PreferenceError, _ now: Int64) {
        if isForgotten(file, now) { (file.bytes, file.text) = (nil, ReadOnlyText()) }
        if file.missingSince != nil, file.bytes != nil { isChanged = true }
        (file.failure, file.missingSince, file.saving, file.status) = (failure, nil, nil, nil)
    }

    /// Whether a file was missing for so long that its last state isn't that of one that can't be read now. It isn't while one takes the
    /// place of another.
    private func isForgotten(_ file: File, _ now: Int64) -> Bool {
        file.missingSince.map { now - $0 > Self.second } ?? false
    }

    private func outcome(_ file: File, _ now: Int64) -> String {
        file.bytes == nil || isForgotten(file, now) ? "it is left out" : "its last values stay in force"
    }

    private func noteMissing(_ file: File, _ now: Int64) {
        if file.missingSince == nil, file.bytes != nil { isChanged = true }
        (file.failure, file.saving, file.status) = (nil, nil, nil)
        if file.missingSince == nil { file.missingSince = now }
    }

    /// Returns the bytes of a file, whose owner must be trusted; none for a link to `/dev/null`, as for systemd's own files.
    static func contents(of path: String, _ system: FileSystem) throws(FileSystemError) -> (
        bytes: [UInt8], status: FileStatus?
    ) {
        let log = Log(path, system, trustsOwner: TrustedOwners.setting.fix().value)
        do throws(FileSystemError) {
            let (file, status) = try log.opening(for: .reading)
            return (try log.bytes(of: file, from: 0, count: Int(status.size)), status)
        } catch {
            guard case .notAFile = error.kind, try PathWalk(path, system).real == "/dev/null" else { throw error }
            return ([], nil)
        }
    }

    private func exists(_ path: String) -> Bool {
        do throws(FileSystemError) {
            _ = try system.status(at: path, followsLinks: false)
            return true
        } catch { return !error.isMissing }
    }

    private func isOutOfReach(_ path: String) -> Bool {
        do throws(FileSystemError) {
            _ = try system.status(at: path)
            return false
        } catch { return error.deniesWriting }
    }

    /// Whether a text is complete, and not one that a program is saving in place: then the values that were read before stay. It is, too, if
    /// it doesn't change for a second.
    private func isSaved(_ file: File, _ bytes: [UInt8], _ status: FileStatus?, _ text: ReadOnlyText, _ now: Int64)
        -> Bool
    {
        if file.bytes == bytes, file.missingSince == nil { return true }
        let isInPlace = file.status.flatMap { old in status.map(old.isSameFile) } ?? false
        let isAppended = file.bytes.map { bytes.starts(with: $0) } ?? true
        if !text.isUnfinished, !isInPlace || isAppended || areObjects { return true }
        let isQuiet = file.saving?.bytes == bytes
        let (since, quiet) = (file.saving?.since ?? now, isQuiet ? file.saving?.quiet ?? now : now)
        file.saving = (bytes, since, quiet)
        return now - since >= Self.second || !text.isUnfinished && now - quiet >= 50_000_000
    }

    // MARK: Folders

    /// Returns the paths of the drop-ins in the order in which they are read, each followed by those of the files that it replaces.
    private func watchAndList() -> [[String]] {
        var links: [String] = []
        for _ in 0..<4 {
            // Before they are listed, so that no file is missed.
            watchPlaces(links)
            let dropIns = list()
            let found = dropIns.joined().filter(isLink)
            if found == links { return dropIns }
            links = found
        }
        lookLater(60_000_000)
        return list()
    }

    private func watchPlaces(_ links: [String]) {
        guard let host, !watch.update(places.files + links, folders: places.folders, { host.changed() }) else { return }
        lookLater(PathWatch.pollInterval)
    }

    private func isLink(_ path: String) -> Bool {
        do throws(FileSystemError) { return try system.status(at: path, followsLinks: false).isLink } catch {
            return false
        }
    }

    private func list() -> [[String]] {
        folderProblems = []
        var found: [(name: String, path: String)] = []
        for (index, folder) in places.folders.enumerated() {
            for name in names(in: folder, index) { found.append((name, folder + "/" + name)) }
        }
        var dropIns: [[String]] = []
        var last: String?
        // Those of one name stay in the order of their folders.
        for (name, path) in found.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            if name == last { dropIns[dropIns.count - 1].append(path) } else { dropIns.append([path]) }
            last = name
        }
        return dropIns
    }

    /// Returns the drop-ins in a folder; the last ones if it can't be listed any more.
    private func names(in folder: String, _ index: Int) -> [String] {
        do throws(FileSystemError) {
            let names = try system.names(inFolder: folder).filter { $0.hasSuffix(".jsonl") && !$0.hasPrefix(".") }
            listings[index] = names
            return names
        } catch {
            if error.isMissing { listings[index] = nil }
            // If it is in a folder that can't be entered, the file there is reported.
            if error.isMissing || listings[index] == nil && isOutOfReach(folder) { return [] }
            folderProblems.append(
                listings[index] == nil && error.deniesWriting
                    ? PreferenceError(
                        .notPermitted,
                        "the files in \(folder) are treated as missing, because the folder can't be listed; let this user list it",
                        cause: error
                    )
                    : PreferenceError(
                        .unavailable,
                        "\(folder) can't be listed; the files that were in it stay in force",
                        cause: error
                    )
            )
            return listings[index] ?? []
        }
    }

    private func lookLater(_ nanoseconds: Int64) {
        let due = now() + nanoseconds
        guard let host, nextLook.map({ $0 > due }) ?? true else { return }
        nextLook = due
        process.pool.run(after: nanoseconds, host.changed)
    }
}
