internal import DurableFile

/// The values of a preferences file: those that are published, and what the file says beyond them.
final class FileContents: LogContents, @unchecked Sendable {  // used under its log's lock only
    /// What the file says, until that is given out.
    // The log's lock excludes others; to check that took a hundred instructions a line, and twice as many a set.
    @exclusivity(unchecked) private var table = ValueTable()
    /// What is published: the source's own values once it has adopted the backend.
    @exclusivity(unchecked) private(set) var published = StoredValues()
    /// What the file says of names of which it says something else than is published, or did when that was last looked at; also
    /// where that was given out, until the next call with the turn.
    @exclusivity(unchecked) private var pending: [String: PropertyListValue?] = [:]
    /// What was written last, until the next call with the turn: by then it is published.
    @exclusivity(unchecked) private var own = ShortList<ValueChange>()
    /// The last line that was made, whose memory is the next one's.
    @exclusivity(unchecked) private var line: [UInt8] = []
    /// What the names of an unfinished last line held before it.
    private var unfinished: [String: PropertyListValue?] = [:]
    /// The comments of all lines, which a new file begins with.
    private var comments: [String] = []
    /// Whether lines were read since the differences were given out last.
    @exclusivity(unchecked) private var hasUnreportedLines = false
    /// Whether one of them is about a name of which a value was given out or written, which may not be published yet.
    @exclusivity(unchecked) private var isInFlight = false
    /// Whether the values were given out, so that they change by being published only.
    @exclusivity(unchecked) private var isLoaded = false
    /// Whether they would have been, had the file been readable.
    private var isAwaited = false

    init() {}

    // MARK: What the lines say

    // Of a file that claims more it is made as it comes.
    func expect(_ byteCount: Int) { table.reserve(min(byteCount, 64 << 20)) }

    func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        Self.reading { () throws(JSONLineError) in
            if isLoaded {
                try JSONLine.read(line, isFirst: isFirst, { set($1, for: $0) }, comment: { keep(comment: $0) })
            } else {
                try table.read(line, isFirst: isFirst) { keep(comment: $0) }
            }
        }
    }

    func lengthOfObject(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int? {
        JSONLine.lengthOfObject(bytes, isFirst: isFirst)
    }

    func readUnfinished(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        Self.reading { () throws(JSONLineError) in
            try JSONLine.read(line, isFirst: isFirst) { name, value in
                if unfinished[name] == nil { unfinished.updateValue(self.value(of: name), forKey: name) }
                set(value, for: name)
            }
        }
    }

    func dropUnfinished() {
        for (name, value) in unfinished { set(value, for: name) }
        unfinished = [:]
    }

    func replace(with contents: FileContents) {
        if isLoaded {
            // A value in flight differs from what is published now, so its name stays pending.
            takeInOwn()
            let inFlight = pending.keys
            pending = published.differences(to: contents.table)
            for name in inFlight where pending[name] == nil {
                pending.updateValue(contents.table[name], forKey: name)
                isInFlight = true
            }
            hasUnreportedLines = hasUnreportedLines || !pending.isEmpty
        } else {
            table = exchange(&contents.table, with: ValueTable())
        }
        unfinished = contents.unfinished
        comments = contents.comments
    }

    func copy() -> FileContents {
        let copy = FileContents()
        copy.table = values
        copy.unfinished = unfinished
        copy.comments = comments
        return copy
    }

    func lines() throws -> [UInt8] {
        var values = values
        for (name, value) in unfinished { values.set(value, for: name) }
        var bytes: [UInt8] = []
        for text in comments { try JSONLine.write(comment: text, to: &bytes) }
        if !values.isEmpty {
            try values.appendLines(to: &bytes)
            try JSONLine.write(comment: Self.compactionMark, to: &bytes)
        }
        return bytes
    }

    /// The comment that a compaction puts behind the values it wrote: what they were before is not in the file any more, while
    /// all behind it is.
    static let compactionMark = "compacted"

    private func keep(comment: String) {
        if comment != Self.compactionMark { comments.append(comment) }
    }

    /// Whether the last line has no newline and counts.
    var hasUnfinishedLine: Bool { !unfinished.isEmpty }

    // MARK: What the store does

    /// All that the file says.
    private var values: ValueTable {
        guard isLoaded else { return table.copy }
        var values = published.copy
        for (name, value) in pending { values.set(value, for: name) }
        // What is published by now is there; to set it once more would copy all.
        own.forEach { if published[$0.name] != $0.new { values.set($0.new, for: $0.name) } }
        return values
    }

    /// What the file says of a name.
    private func value(of name: String) -> PropertyListValue? {
        guard isLoaded else { return table[name] }
        if let change = own.firstResult({ $0.name == name ? $0 : nil }) { return change.new }
        if !pending.isEmpty, let value = pending[name] { return value }
        return published[name]
    }

    /// Lets a source publish, whose values are what was published until now.
    func adopt(_ values: StoredValues) { published = values }

    /// Gives the values out, which change by being published from now on.
    func load() -> StoredValues {
        if isLoaded {
            published.set(takeDifferences() ?? [:])
        } else {
            published = StoredValues(exchange(&table, with: ValueTable()))
        }
        isLoaded = true
        isAwaited = false
        return published
    }

    /// Notes that the file could not be read; once it can, that is news.
    func awaitReading() { isAwaited = true }

    var hasChanges: Bool { isAwaited || hasUnreportedLines && (isInFlight || hasDifferences) }

    private var hasDifferences: Bool { pending.contains(where: isDifferent) }

    private func isDifferent(_ entry: (key: String, value: PropertyListValue?)) -> Bool {
        published[entry.key] != entry.value
    }

    /// What the file says otherwise than is published, which stays pending until it is; call with the turn.
    func takeDifferences() -> [String: PropertyListValue?]? {
        hasUnreportedLines = false
        isInFlight = false
        own = .empty
        guard !pending.isEmpty else { return nil }
        let count = pending.count(where: isDifferent)
        if count == 0 {
            // Its place is for the next set, so it isn't given away.
            pending.removeAll(keepingCapacity: pending.count < 64)
            return nil
        }
        if count < pending.count {
            for name in pending.compactMap({ isDifferent($0) ? nil : $0.key }) { pending.removeValue(forKey: name) }
        }
        return pending
    }

    /// Whether a condition is true of what the file says; call with the turn.
    func holds(_ condition: PreferenceCondition) -> Bool {
        own = .empty
        if condition.isNone { return true }
        if condition.isComplete { return condition.holds(for: values) }
        return condition.values.allSatisfy { name, expected in value(of: name) == expected }
    }

    /// What of some changes the file doesn't have already.
    enum Difference {
        case none
        /// All of them, where the file says what is published; with what they change of that.
        case published(ShortList<ValueChange>)
        case all
        case some([String: PropertyListValue?])
    }

    /// What of some changes the file doesn't have already; call with the turn.
    func difference(of changes: ValueChanges) -> Difference {
        own = .empty
        if pending.isEmpty {
            let changed = published.differences(of: changes)
            if changed.isEmpty { return .none }
            if changed.count == changes.count { return .published(changed) }
        }
        let written = changes.filter { name, new in value(of: name) != new }
        if written.isEmpty { return .none }
        return written.count == changes.count ? .all : .some(written.dictionary)
    }

    /// Takes in what of some changes was written, which are all to be published.
    ///
    /// What was in the file already wasn't written again; where another's line came in between, that is news.
    func store(_ written: Difference, of changes: ValueChanges) {
        switch written {
        case .none: break
        case .published(let changed):
            own = changed
            // What is pending for a name is what the file says last.
            if !pending.isEmpty { takeInOwn() }
        case .all: changes.forEach { pending.updateValue($1, forKey: $0) }
        case .some(let written):
            for (name, value) in written { pending.updateValue(value, forKey: name) }
            hasUnreportedLines = !changes.filter { value(of: $0) != $1 }.isEmpty
        }
    }

    /// The line of those of some changes that the file doesn't have; nil for none.
    func line(of difference: Difference, _ changes: ValueChanges) throws(PreferencesError) -> [UInt8]? {
        switch difference {
        case .none: nil
        case .published, .all: try line(of: changes)
        case .some(let written): try line(of: .several(written))
        }
    }

    private func line(of changes: ValueChanges) throws(PreferencesError) -> [UInt8] {
        // Emptied from its end, as `removeAll` takes three times as long.
        if line.count <= 1000 { line.removeLast(line.count) } else { line = [] }
        try JSONLine.write(changes, to: &line)
        return line
    }

    private func takeInOwn() {
        own.forEach { pending.updateValue($0.new, forKey: $0.name) }
        own = .empty
    }

    private func set(_ value: PropertyListValue?, for name: String) {
        guard isLoaded else { return table.set(value, for: name) }
        takeInOwn()
        if pending[name] != nil {
            isInFlight = true
        } else if published[name] == value {
            return
        }
        pending.updateValue(value, forKey: name)
        hasUnreportedLines = true
    }

    private static func reading(_ body: () throws(JSONLineError) -> Void) -> LineReading {
        do throws(JSONLineError) {
            try body()
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
