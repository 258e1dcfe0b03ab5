public import Preferences

/// Operations of the tool `prefs` on a file, other than reading and setting.
public enum PreferencesFile {
    /// The names that the library itself keeps in a store and that no program declares.
    public static let ownNames: Set = PreferenceStore.recordNames

    /// Returns the line of a file that an error of a store is about; `nil` if it is about none.
    public static func damagedLine(of error: PreferenceError) -> (path: String, number: Int)? { error.damagedLine }

    /// Returns all contents of a file, read once; calls `report` with an error for each line that is skipped.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - reportsUnfinished: Whether a last line that has no end and can't be read is reported, too. A program may be about to end it.
    ///   - report: Called with an error for each line that is skipped.
    public static func contents(
        of path: String,
        reportsUnfinished: Bool = false,
        _ report: (PreferenceError) -> Void
    ) throws(PreferenceError) -> [String: PropertyListValue] {
        let log = log(path)
        var contents: [String: PropertyListValue] = [:]
        do throws(FileSystemError) {
            if case .contents(_, let changes) = try log.look() {
                for change in changes { contents[change.name] = change.value }
            }
            if reportsUnfinished { try log.endLastLine() }
        } catch { throw PreferenceError(error, isWriting: false) }
        for error in log.damage { report(error) }
        return contents
    }

    private static func log(_ path: String) -> Log { Log(path, trustsOwner: TrustedOwners.setting.fix().value) }

    /// Returns the number of the line that last set each name, from 1; see `JSONLine.numbers(in:joinsLines:)`.
    public static func lines(in bytes: [UInt8], joinsLines: Bool) -> [String: Int] {
        JSONLine.numbers(in: bytes, joinsLines: joinsLines)
    }

    /// Returns the paths of the links on the way to a file.
    public static func links(to path: String) throws(PreferenceError) -> [String] {
        do { return try PathWalk(path, .system).links } catch { throw PreferenceError(error, isWriting: false) }
    }

    /// Returns the store of a suite's program, even if this process was started with fresh stores.
    public static func store(ofSuite name: String) throws(PreferenceError) -> PreferenceStore {
        try SuiteLocation.check(name)
        try SharedStore.checkSuite(name)
        return PreferenceStore { SharedStore.suite(name).layers() }
    }

    /// Appends an empty object to a file in which nothing is an object of names and values, so that programs use it from now on;
    /// does nothing to other files.
    public static func adopt(_ path: String) throws(PreferenceError) {
        try change(path) { log, deadline in try log.adopt(until: deadline) }
    }

    /// Rewrites the file with one name a line, including objects over several lines; lines that can't be read stay.
    public static func compact(_ path: String) throws(PreferenceError) {
        try change(path) { log, deadline in try log.compact(until: deadline, isRequested: true) { _ in } }
    }

    private static func change(
        _ path: String,
        _ body: (Log, PreferenceDeadline) throws -> Void
    ) throws(PreferenceError) {
        let (log, timeout) = (log(path), Duration.seconds(5))
        do { try body(log, PreferenceDeadline(after: timeout)) } catch {
            throw PreferenceError(.unavailable, from: log.error(ofChanging: error, timeout))
        }
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
            Result { () throws(PreferenceError) in
                var (start, line) = (0, 0)
                while start < bytes.count {
                    line += 1
                    let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
                    try read(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), line)
                    start = end + 1
                }
            }
        }
        try result.get()
        guard hasOverridden else { return }
        compactedLine = lastTidyLine
        entries.removeAll { $0.line <= lastTidyLine }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer, _ line: Int) throws(PreferenceError) {
        var changes: [String: PropertyListValue?] = [:]
        do throws(JSONLineError) {
            try JSONLine.read(bytes, isFirst: line == 1) { changes.updateValue($1, forKey: $0) }
        } catch {
            if error.kind == .unknownFormat { throw PreferenceError(.unknownFormat, error.description) }
            return
        }
        if isTidy, let (name, value) = changes.first {
            isTidy = changes.count == 1 && value != nil && contents[name] == nil
            if isTidy { (lastTidyLine, hasOverridden) = (line, hasOverridden || CompactedLines.isMarked(bytes)) }
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
    }
}

extension PreferenceStore {
    /// The store's current contents as a change from nothing, and then each change of the store, without gap or repetition.
    public var contentsAndChanges: PreferenceUpdates<PreferenceStoreChange> {
        PreferenceUpdates(buffering: .unbounded) { [self] yield in
            let store = resolved
            let secretNames: @Sendable ([String]) -> Set<String> = { Set($0.filter(store.core.isSecret)) }
            let observation = store.subscribe { now in
                // No consumer waits for the first element yet, so yielding it resumes none.
                yield {
                    PreferenceStoreChange(
                        names: Set(now.keys),
                        old: [:],
                        new: now,
                        origin: .external,
                        secretNames: secretNames(Array(now.keys))
                    )
                }
            } _: { batch in
                yield { PreferenceStoreChange(batch, secretNames: secretNames) }
            }
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
    private let managed: FilePlaces
    private let system: [FilePlaces]
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

    /// Returns the values of the system's defaults, in order of increasing precedence.
    ///
    /// Of the files without such values, only the main one is returned, even if it doesn't exist. A file that can't be read is reported and
    /// left out, as in a program.
    public func systemContents(_ report: (PreferenceError) -> Void) -> [FileValues] {
        system.reversed().flatMap { Self.contents(of: $0, report) }
    }

    /// Returns the values of the managed settings, as `systemContents` does.
    public func managedContents(_ report: (PreferenceError) -> Void) -> [FileValues] {
        Self.contents(of: managed, report)
    }

    private static func contents(of places: FilePlaces, _ report: (PreferenceError) -> Void) -> [FileValues] {
        let (files, problems) = places.read()
        for problem in problems { report(problem) }
        var found = files.map { FileValues($0.path, [:]) }
        var indices: [String: Int] = [:]
        for (index, file) in files.enumerated() {
            for change in file.changes {
                if let old = indices.updateValue(index, forKey: change.name) { found[old].contents[change.name] = nil }
                found[index].contents[change.name] = change.value
            }
        }
        return found.filter { !$0.contents.isEmpty || $0.path == places.files.last }
    }
}
