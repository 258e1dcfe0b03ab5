public import Preferences

/// Operations of the tool `prefs` on a file, other than reading and setting.
public enum PreferencesFile {
    /// The name under which a store records the user defaults domains that were imported.
    public static let importedName = PreferenceStore.importedName

    /// The names that the library itself keeps in a store and that no program declares.
    public static let ownNames: Set = PreferenceStore.recordNames

    /// Returns the line of a file that an error of a store is about; `nil` if it is about none.
    public static func damagedLine(of error: PreferenceError) -> (path: String, number: Int)? { error.damagedLine }

    /// Returns all contents of a file, read once; calls `report` with an error for each line that is skipped.
    ///
    /// The file isn't watched: to begin and end a watch takes longer than to read a small file.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - reportsUnfinished: Whether a last line that has no end and can't be read is reported, too. A program may be about to end it.
    ///   - report: Called with an error for each line that is skipped.
    public static func contents(
        of path: String,
        reportsUnfinished: Bool = false,
        _ report: @escaping @Sendable (PreferenceError) -> Void
    ) throws(PreferenceError) -> [String: PropertyListValue] {
        let backend = FileBackend(path: path, reportsUnfinished: reportsUnfinished, watcher: nil)
        return try backend.load(host: PreferenceBackendHost(changed: { _ in }, report: report))
    }

    /// Returns the number of the line that last set each name, from 1; see `JSONLine.numbers(in:joinsLines:)`.
    public static func lines(in bytes: [UInt8], joinsLines: Bool) -> [String: Int] {
        JSONLine.numbers(in: bytes, joinsLines: joinsLines)
    }

    /// Returns the paths of the links on the way to a file.
    public static func links(to path: String) throws(PreferenceError) -> [String] {
        do { return try LogPath(path: path).walk().links } catch { throw PreferenceError(LogError.failed(error)) }
    }

    /// Returns the store of a suite's program, even if this process was started with fresh stores.
    public static func store(ofSuite name: String) throws(PreferenceError) -> PreferenceStore {
        try SuiteLocation.check(name)
        try SharedStore.checkSuite(name)
        return PreferenceStore(replacement: nil) { SharedStore.suite(name).layers() }
    }

    /// Appends an empty object to a file in which nothing is an object of names and values, so that programs use it from now on;
    /// does nothing to other files.
    public static func adopt(_ path: String) throws(PreferenceError) {
        let log = LogFile<FileContents>(path: path, watcher: nil)
        do throws(LogError) {
            try log.load(observer: LogObserver(changed: {}, damaged: { _ in }, failed: { _ in }))
            try log.adopt(with: Array("{}\n".utf8))
        } catch {
            throw PreferenceError(error)
        }
    }

    /// Rewrites the file with one name a line, including objects over several lines; lines that can't be read are kept in a file
    /// next to it.
    ///
    /// Blocks for more than a second after that, to copy the lines that other processes still append to the old file.
    public static func compact(_ path: String) throws(PreferenceError) {
        let log = LogFile<FileContents>(
            path: path,
            joinsLines: true,
            trustsOwners: TrustedOwners.setting.fix().value,
            watcher: nil
        )
        do throws(LogError) {
            try log.load(observer: LogObserver(changed: {}, damaged: { _ in }, failed: { _ in }))
            // Without a newline after it, a damaged line or an object over several lines would be copied as one that is still arriving.
            try log.endLastLine()
            try log.compact()
        } catch {
            throw PreferenceError(error)
        }
        withExtendedLifetime(log) { usleep(1_200_000) }
    }
}

extension PropertyListValue {
    /// The value; `nil` for the one that is stored for `nil` over a weaker layer's value, in whose place a program reads its default.
    public var unlessUnset: PropertyListValue? { isUnset ? nil : self }
}

/// The changes that a preferences file still records, for the tool `prefs`.
public struct PreferencesHistory: Sendable {
    /// A line that changed a value.
    public struct Entry: Sendable {
        /// The number of the line, from 1.
        public let line: Int
        /// The values that differ, before and after it.
        public let change: PreferenceStoreChange
    }

    /// The lines that changed a value and whose earlier values are known, in the order of the file.
    public private(set) var entries: [Entry] = []
    /// The last line of a compaction, before which no older values are known; `nil` if the file was never compacted.
    public private(set) var compactedLine: Int?
    /// The last of the first lines that each set one new name, as all lines of a compacted file do.
    private var lastTidyLine = 0
    private var isTidy = true
    /// Whether one of these lines says that older values of its name were left out.
    private var hasOverridden = false
    /// The values after the last line.
    public private(set) var contents: [String: PropertyListValue] = [:]

    /// Creates the history from the bytes of a file; lines that can't be read are skipped, as by a store.
    ///
    /// - Throws: `unknownFormat` for a file of a newer format.
    public init(_ bytes: [UInt8]) throws(PreferenceError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONLineError) in
                var (start, line) = (0, 0)
                while start < bytes.count {
                    line += 1
                    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                    try read(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), line)
                    start = end + 1
                }
            }
        }
        do throws(JSONLineError) { try result.get() } catch {
            throw PreferenceError(.unknownFormat, error.description)
        }
        guard hasOverridden, lastTidyLine > compactedLine ?? 0 else { return }
        compactedLine = lastTidyLine
        entries.removeAll { $0.line <= lastTidyLine }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer, _ line: Int) throws(JSONLineError) {
        var changes: [String: PropertyListValue?] = [:]
        var isCompaction = false
        do throws(JSONLineError) {
            try JSONLine.read(bytes, isFirst: line == 1) {
                changes.updateValue($1, forKey: $0)
            } remark: {
                isCompaction = isCompaction || $0 == .comment(FileLayout.compactionMark)
            }
        } catch {
            if error.kind == .unknownFormat { throw error }
            return
        }
        if isTidy, let (name, value) = changes.first {
            isTidy = changes.count == 1 && value != nil && contents[name] == nil
            if isTidy { (lastTidyLine, hasOverridden) = (line, hasOverridden || FileLayout.hasOverridden(bytes)) }
        }
        changes = changes.filter { contents[$0.key] != $0.value }
        if !changes.isEmpty {
            let names = Set(changes.keys)
            let old = [String: PropertyListValue](
                uniqueKeysWithValues: names.compactMap { name in contents[name].map { (name, $0) } }
            )
            let change = PreferenceStoreChange(
                names: names,
                old: old,
                new: changes.compactMapValues { $0 },
                origin: .external
            )
            entries.append(Entry(line: line, change: change))
            for (name, value) in changes { contents[name] = value }
        }
        guard isCompaction else { return }
        isTidy = false
        compactedLine = line
        entries = []
    }
}

extension PreferenceStore {
    /// The store's current contents as a change from nothing, and then each change of the store, without gap or repetition.
    public var contentsAndChanges: PreferenceUpdates<PreferenceStoreChange> {
        PreferenceUpdates(buffering: .unbounded) { [self] yield in
            let store = resolved
            let observation = store.subscribe(
                begin: { layers, _ in
                    let now = layers.contents
                    // No consumer waits for the first element yet, so yielding it resumes none.
                    yield {
                        PreferenceStoreChange(
                            names: Set(now.keys),
                            old: [:],
                            new: now,
                            origin: .external,
                            secretNames: store.core.secretNames(among: now.keys)
                        )
                    }
                }
            ) { batch in yield { PreferenceStoreChange(batch, secretNames: store.core.secretNames) } }
            return [observation]
        }
    }
}

/// The paths of a suite's files, for the tool `prefs`.
public struct SuiteFiles: Sendable {
    /// The suite's name.
    public let name: String
    /// The user's file.
    public let userPath: String
    /// The file with the managed settings of an administrator.
    public let managedPath: String
    /// The files with the system's defaults, the strongest first.
    public let systemPaths: [String]
    private let managed: DropIns
    private let system: [DropIns]
    /// The possible paths of a description of the suite's preferences, the strongest first; see
    /// `PreferenceGroup.jsonSchema`.
    public let schemaPaths: [String]

    /// Creates the paths after checking the name; opens and creates nothing.
    public init(_ name: String) throws(PreferenceError) {
        let location = try SuiteLocation(name)
        self.name = name
        userPath = location.userPath
        managedPath = location.managedPath
        systemPaths = location.systemPaths
        (managed, system) = (location.managed, location.system)
        schemaPaths = ([userPath] + systemPaths).map { path in
            path.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/preferences.schema.json"
        }
    }

    /// Returns the path of the file with the program's state.
    public func statePath() throws(PreferenceError) -> String { try SuiteLocation.statePath(of: name) }

    /// The folders with drop-ins of the managed settings, the strongest first.
    public var managedFolders: [String] { managed.folders }

    /// The folders with drop-ins of the system's defaults, the strongest first.
    public var systemFolders: [String] { system.flatMap(\.folders) }

    /// The values of a file, without those that a stronger file of the same layer overrides.
    public typealias FileValues = (path: String, contents: [String: PropertyListValue])

    /// Returns the values of the system's defaults, in order of increasing precedence, drop-ins first.
    ///
    /// Of the files without such values, only the one that wins over the drop-ins is returned, even if it doesn't exist.
    /// A layer of which a file can't be read has no values, as in a program, and the error is reported.
    public func systemContents(_ report: @escaping @Sendable (PreferenceError) -> Void) -> [FileValues] {
        system.reversed().flatMap { Self.contents(of: $0, report) }
    }

    /// Returns the values of the managed settings, as `systemContents` does.
    public func managedContents(_ report: @escaping @Sendable (PreferenceError) -> Void) -> [FileValues] {
        Self.contents(of: managed, report)
    }

    private static func contents(
        of places: DropIns,
        _ report: @escaping @Sendable (PreferenceError) -> Void
    ) -> [FileValues] {
        let backend = DropInBackend(places, watcher: nil)
        do throws(PreferenceError) {
            _ = try backend.load(host: PreferenceBackendHost(changed: { _ in }, report: report))
            return backend.contentsOfFiles.filter { !$0.contents.isEmpty || $0.path == places.files.last }
        } catch {
            report(error)
            return places.files.suffix(1).map { ($0, [:]) }
        }
    }
}
