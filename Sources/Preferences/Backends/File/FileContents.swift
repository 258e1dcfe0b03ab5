internal import DurableFile

/// The values of a preferences file, and which of them the store hasn't been told of.
final class FileContents: LogContents, @unchecked Sendable {  // used under its log's lock only
    private(set) var values: [String: PropertyListValue] = [:]
    /// What the store was told last, of each name that changed since; nil for absent.
    private var told: [String: PropertyListValue?] = [:]
    /// What the names of an unfinished last line held before it.
    private var beforeUnfinished: [String: PropertyListValue?] = [:]
    /// What the store wants stored, and what of it is being written.
    private var requested: [String: PropertyListValue?] = [:]
    private var staged: [String: PropertyListValue?] = [:]
    /// What others had changed when `staged` was taken in.
    private var outside: [String: PropertyListValue?] = [:]
    /// Whether a store has been told of the values.
    private var isLoaded = false
    /// Whether a store would have been, had the file been readable.
    private var isAwaited = false

    init() {}

    // MARK: What the lines say

    func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        Self.reading(line, isFirst: isFirst) { name, value in set(value, for: name) }
    }

    func readUnfinished(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        Self.reading(line, isFirst: isFirst) { name, value in
            if beforeUnfinished[name] == nil { beforeUnfinished[name] = .some(values[name]) }
            set(value, for: name)
        }
    }

    func dropUnfinished() {
        for (name, value) in beforeUnfinished { set(value, for: name) }
        beforeUnfinished = [:]
    }

    func replace(with contents: FileContents) {
        if isLoaded {
            for (name, value) in values where contents.values[name] != value { remember(name) }
            for name in contents.values.keys where values[name] == nil { remember(name) }
        }
        values = contents.values
        beforeUnfinished = contents.beforeUnfinished
    }

    func copy() -> FileContents {
        let copy = FileContents()
        copy.values = values
        copy.beforeUnfinished = beforeUnfinished
        return copy
    }

    func lines() throws -> [UInt8] {
        var values = values
        for (name, value) in beforeUnfinished { values[name] = value }
        var bytes: [UInt8] = []
        for name in values.namesByBytes { try JSONLine.write(name: name, value: values[name], to: &bytes) }
        return bytes
    }

    // MARK: What the store does

    /// Begins to remember what the store isn't told of.
    func load() -> [String: PropertyListValue] {
        isLoaded = true
        isAwaited = false
        return values
    }

    /// Notes that the file could not be read; once it can, that is news.
    func awaitReading() { isAwaited = true }

    /// What changed since the store was told last.
    func takeOutside() -> [String: PropertyListValue?] {
        if told.isEmpty { return [:] }
        defer { told = [:] }
        return told.filter { name, value in values[name] != value }.reduce(into: [:]) { changes, entry in
            changes[entry.key] = .some(values[entry.key])
        }
    }

    var hasNews: Bool { isAwaited || told.contains { name, value in values[name] != value } }

    /// Chooses what of some changes has to be written; nil where nothing has.
    func stage(_ changes: [String: PropertyListValue?]) -> [String: PropertyListValue?]? {
        requested = changes
        let isAllNews = changes.allSatisfy { name, value in values[name] != value }
        staged = isAllNews ? changes : changes.filter { name, value in values[name] != value }
        return staged.isEmpty ? nil : staged
    }

    /// Takes in what was staged, behind everything that others have changed.
    func commit() {
        outside = takeOutside()
        for (name, value) in staged { values[name] = value }
        // The store takes what it asked for to be stored now; where another's line came in between, it learns so next.
        if staged.count < requested.count {
            for (name, value) in requested where values[name] != value { told[name] = .some(value) }
        }
        staged = [:]
        requested = [:]
    }

    /// What others changed before the last commit.
    func takeOutsideOfCommit() -> [String: PropertyListValue?] {
        defer { outside = [:] }
        return outside
    }

    private func set(_ value: PropertyListValue?, for name: String) {
        remember(name)
        values[name] = value
    }

    private func remember(_ name: String) {
        if isLoaded && told[name] == nil { told[name] = .some(values[name]) }
    }

    private static func reading(
        _ line: UnsafeRawBufferPointer,
        isFirst: Bool,
        _ body: (String, PropertyListValue?) -> Void
    ) -> LineReading {
        do throws(JSONLineError) {
            try JSONLine.read(line, isFirst: isFirst, body)
            return .complete
        } catch {
            switch error.kind {
            case .incomplete: return .incomplete
            case .unknownFormat: return .refused(error.description)
            case .damaged: return .damaged(error.description)
            }
        }
    }
}
