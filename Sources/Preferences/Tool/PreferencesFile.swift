internal import DurableFile

/// What the tool `prefs` does to a file besides reading and setting; SPI, and no part of the public contract.
@_spi(Tool)
public enum PreferencesFile {
    /// The name under which a store keeps which domains of user defaults were imported.
    public static let importedName = "preferences.imported"

    /// The names that the library itself keeps in a store, which no program declares.
    public static let ownNames: Set = [PreferenceStore.versionName, importedName]

    /// Everything that a file holds, read once; `report` is told of what is skipped.
    ///
    /// Nothing is watched: to begin and end a watch takes longer than to read a small file. Of a file that programs only read,
    /// objects over several lines are read, too.
    public static func contents(
        of path: String,
        isReadOnly: Bool = false,
        _ report: @escaping @Sendable (PreferencesError) -> Void
    ) throws(PreferencesError) -> [String: PropertyListValue] {
        let backend = FileBackend(path: path, isReadOnly: isReadOnly, watcher: nil)
        return try backend.load(host: PreferenceBackendHost(changed: {}, report: report))
    }

    /// The line on which each name was set last, from 1.
    ///
    /// Lines that can't be read are skipped, as by `contents`.
    ///
    /// - Parameter joinsLines: Whether an object over several lines counts, as in managed and system files, by its first line.
    public static func lines(in bytes: [UInt8], joinsLines: Bool) -> [String: Int] {
        bytes.withUnsafeBytes { bytes in
            var lines: [String: Int] = [:]
            var (start, number) = (0, 1)
            while start < bytes.count {
                var end = bytes[start...].firstIndex(of: 10) ?? bytes.count
                let first = number
                func note(_ line: Slice<UnsafeRawBufferPointer>) throws(JSONLineError) {
                    try JSONLine.read(UnsafeRawBufferPointer(rebasing: line), isFirst: first == 1) { name, value in
                        lines[name] = value == nil ? nil : first
                    }
                }
                do throws(JSONLineError) { try note(bytes[start..<end]) } catch {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                    if joinsLines, error.kind == .incomplete,
                        let length = JSONLine.lengthOfObject(rest, isFirst: first == 1)
                    {
                        let object = bytes[start..<start + length]
                        end = bytes[object.endIndex...].firstIndex(of: 10) ?? bytes.count
                        number += object.count { $0 == 10 }
                        do throws(JSONLineError) { try note(object) } catch {
                            // What is damaged has no names.
                        }
                    }
                }
                number += 1
                start = end + 1
            }
            return lines
        }
    }

    /// The links on the way to a file, by their paths; each must be the user's or root's, as the file and its folder.
    public static func links(to path: String) throws(PreferencesError) -> [String] {
        do { return try LogPath(path: path).walk().links } catch { throw PreferencesError(LogError.failed(error)) }
    }

    /// The store that a suite's program has, also where this process was started on fresh stores.
    public static func store(ofSuite name: String) throws(PreferencesError) -> PreferenceStore {
        try SuiteLocation.check(name)
        try SharedStore.checkSuite(name)
        return PreferenceStore(replacement: nil) { SharedStore.suite(name).layers() }
    }

    /// Rewrites the file with one name a line, also an object over several lines; lines that can't be read are kept in a file
    /// beside it.
    ///
    /// Blocks, and stays for a second more to take over what others still append to the old file.
    public static func compact(_ path: String) throws(PreferencesError) {
        let log = LogFile<FileContents>(path: path, joinsLines: true, watcher: nil)
        do throws(LogError) {
            try log.load(observer: LogObserver(changed: {}, damaged: { _ in }, failed: { _ in }))
            // An object over several lines without a newline behind it would be copied as the unfinished line that it is.
            try log.append {
                $0.hasUnfinishedLine ? [UInt8(ascii: "\n")] : nil
            } commit: { _ in
            }
            try log.compact()
        } catch {
            throw PreferencesError(error)
        }
        withExtendedLifetime(log) { Pause.sleep(microseconds: 1_200_000) }
    }
}

/// The changes that a preferences file still holds, for the tool `prefs`; SPI, and no part of the public contract.
@_spi(Tool)
public struct PreferencesHistory: Sendable {
    /// A line that changed something.
    public struct Entry: Sendable {
        /// The number of the line, from 1.
        public let line: Int
        /// The values that differ, before and after it.
        public let change: PreferenceStoreChange
    }

    /// The lines whose values before are known, in the order of the file; those of which nothing differs are left out.
    public private(set) var entries: [Entry] = []
    /// The last line of a compaction, before which no older values are known; `nil` if the file never was compacted.
    public private(set) var compactedLine: Int?
    /// The values after the last line.
    public private(set) var contents: [String: PropertyListValue] = [:]

    /// Reads the bytes of a file; lines that can't be read are skipped, as by a store.
    ///
    /// - Throws: `unknownFormat` for a file of a newer format.
    public init(_ bytes: [UInt8]) throws(PreferencesError) {
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
            throw PreferencesError(.unknownFormat, error.description)
        }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer, _ line: Int) throws(JSONLineError) {
        var changes: [String: PropertyListValue?] = [:]
        var isCompaction = false
        do throws(JSONLineError) {
            try JSONLine.read(bytes, isFirst: line == 1) {
                changes.updateValue($1, forKey: $0)
            } comment: {
                isCompaction = isCompaction || $0 == FileContents.compactionMark
            }
        } catch {
            if error.kind == .unknownFormat { throw error }
            return
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
        compactedLine = line
        entries = []
    }
}

@_spi(Tool)
extension PreferenceStore {
    /// What the store has now, as a change from nothing, and then each change of it; no gap, no repeat.
    public var contentsAndChanges: PreferenceUpdates<PreferenceStoreChange> {
        PreferenceUpdates(buffering: .unbounded) { [self] yield in
            let store = resolved
            let observation = store.subscribe(
                begin: { layers in
                    let now = layers.contents
                    // Nobody waits for the first element yet, so there is nobody to resume.
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

/// Where the files of a suite lie, for the tool `prefs`; SPI, and no part of the public contract.
@_spi(Tool)
public struct SuiteFiles: Sendable {
    /// The suite's name.
    public let name: String
    /// The user's own file.
    public let userPath: String
    /// The file by which an administrator imposes values.
    public let managedPath: String
    /// The files with the system's defaults, the most important first.
    public let systemPaths: [String]
    /// Where a description of the suite's preferences may lie, the most important first; see
    /// `PreferenceGroup.jsonSchema`.
    public let schemaPaths: [String]

    /// Checks the name and finds the paths; nothing is opened or made.
    public init(_ name: String) throws(PreferencesError) {
        let location = try SuiteLocation(name)
        self.name = name
        userPath = location.userPath
        managedPath = location.managedPath
        systemPaths = location.systemPaths
        schemaPaths = ([userPath] + systemPaths).map { path in
            path.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/preferences.schema.json"
        }
    }
}
