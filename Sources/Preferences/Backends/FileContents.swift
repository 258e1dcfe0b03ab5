internal import DurableFile

/// The values of a preferences file: those that are published, and what the file says beyond them.
final class FileContents: LogContents, @unchecked Sendable {  // used under its log's lock only
    /// What is published: the source's own values once it has adopted the backend.
    private(set) var published = StoredValues()
    /// What the file says of names of which it says something else than is published, or did when that was last looked at.
    private var pending: [String: PropertyListValue?] = [:]
    /// What the names of an unfinished last line held before it.
    private var unfinished: [String: PropertyListValue?] = [:]
    /// The comments of all lines, which a new file begins with.
    private var comments: [String] = []
    /// Whether lines were read since the differences were given out last.
    private var isNews = false
    /// Whether the values were given out, so that they change by being published only.
    private var isLoaded = false
    /// Whether they would have been, had the file been readable.
    private var isAwaited = false

    init() {}

    // MARK: What the lines say

    func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        Self.reading(line, isFirst: isFirst) { name, value in
            set(value, for: name)
        } comment: {
            comments.append($0)
        }
    }

    func lengthOfObject(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int? {
        JSONLine.lengthOfObject(bytes, isFirst: isFirst)
    }

    func readUnfinished(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        Self.reading(line, isFirst: isFirst) { name, value in
            if unfinished[name] == nil { unfinished.updateValue(self.value(of: name), forKey: name) }
            set(value, for: name)
        }
    }

    func dropUnfinished() {
        for (name, value) in unfinished { set(value, for: name) }
        unfinished = [:]
    }

    func replace(with contents: FileContents) {
        let values = contents.values
        if isLoaded {
            for name in self.values.keys where values[name] == nil { set(nil, for: name) }
            for (name, value) in values { set(value, for: name) }
        } else {
            published.replace(with: values)
        }
        unfinished = contents.unfinished
        comments = contents.comments
    }

    func copy() -> FileContents {
        let copy = FileContents()
        copy.published.replace(with: values)
        copy.unfinished = unfinished
        copy.comments = comments
        return copy
    }

    func lines() throws -> [UInt8] {
        var values = values
        for (name, value) in unfinished { values[name] = value }
        var bytes: [UInt8] = []
        for text in comments { try JSONLine.write(comment: text, to: &bytes) }
        for name in values.namesByBytes { try JSONLine.write(name: name, value: values[name], to: &bytes) }
        return bytes
    }

    /// Whether the last line has no newline and counts.
    var hasUnfinishedLine: Bool { !unfinished.isEmpty }

    // MARK: What the store does

    /// All that the file says.
    var values: [String: PropertyListValue] {
        var values = published.all
        for (name, value) in pending { values[name] = value }
        return values
    }

    /// What the file says of a name.
    func value(of name: String) -> PropertyListValue? {
        if !pending.isEmpty, let value = pending[name] { return value }
        return published[name]
    }

    /// Lets a source publish, whose values are what was published until now.
    func adopt(_ values: StoredValues) { published = values }

    /// Gives the values out, which change by being published from now on.
    func load() -> [String: PropertyListValue] {
        published.set(takeDifferences())
        isLoaded = true
        isAwaited = false
        return published.all
    }

    /// Notes that the file could not be read; once it can, that is news.
    func awaitReading() { isAwaited = true }

    var hasNews: Bool { isAwaited || isNews && hasDifferences }

    private var hasDifferences: Bool { pending.contains { name, value in published[name] != value } }

    /// What the file says otherwise than is published, which stays pending until it is.
    func takeDifferences() -> [String: PropertyListValue?] {
        isNews = false
        guard !pending.isEmpty else { return [:] }
        guard hasDifferences else {
            // Its place is for the next set, so it isn't given away.
            pending.removeAll(keepingCapacity: pending.count < 64)
            return [:]
        }
        pending = pending.filter { name, value in published[name] != value }
        return pending
    }

    func holds(_ condition: PreferenceCondition) -> Bool {
        if condition.isComplete { return condition.holds(for: values) }
        return condition.values.allSatisfy { name, expected in value(of: name) == expected }
    }

    /// Which of some changes the file doesn't have already.
    func different(_ changes: [String: PropertyListValue?]) -> [String: PropertyListValue?] {
        let isAll = changes.allSatisfy { name, new in value(of: name) != new }
        return isAll ? changes : changes.filter { name, new in value(of: name) != new }
    }

    /// Takes in what of some changes was written, which are all to be published.
    ///
    /// What was in the file already wasn't written again; where another's line came in between, that is news.
    func store(_ written: [String: PropertyListValue?], of changes: [String: PropertyListValue?]) {
        for (name, value) in written { pending.updateValue(value, forKey: name) }
        isNews = written.count < changes.count && !different(changes).isEmpty
    }

    private func set(_ value: PropertyListValue?, for name: String) {
        guard isLoaded else { return published.set(value, for: name) }
        if pending[name] == nil, published[name] == value { return }
        pending.updateValue(value, forKey: name)
        isNews = true
    }

    private static func reading(
        _ line: UnsafeRawBufferPointer,
        isFirst: Bool,
        _ body: (String, PropertyListValue?) -> Void,
        comment: (String) -> Void = { _ in }
    ) -> LineReading {
        do throws(JSONLineError) {
            try JSONLine.read(line, isFirst: isFirst, body, comment: comment)
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
