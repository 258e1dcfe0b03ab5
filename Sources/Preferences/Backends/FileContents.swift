internal import DurableFile

/// The values of a preferences file: those that are published, and the differences between these and the file.
final class FileContents: LogContents, @unchecked Sendable {  // used under its log's lock only
    /// The values in the file, until `load` returns them.
    // Accesses are exclusive under the log's lock; checking that took a hundred instructions for each line, and twice as many
    // for a set.
    @exclusivity(unchecked) private var table = ValueTable()
    /// The published values: those of the source after it has adopted the backend.
    @exclusivity(unchecked) private(set) var published = StoredValues()
    /// The file's values that differ from the published ones, or did when the differences were last collected. Collected
    /// differences stay here until the next call with the turn.
    @exclusivity(unchecked) private var pending: [String: PropertyListValue?] = [:]
    /// The changes of the last commit, until the next call with the turn; by then they are published.
    @exclusivity(unchecked) private var own = ShortList<ValueChange>()
    /// The last line that was written; its memory is reused for the next one.
    @exclusivity(unchecked) private var line: [UInt8] = []
    /// The values that the names of an unfinished last line had before it.
    private var unfinished: [String: PropertyListValue?] = [:]
    /// The comments of all lines, which begin a rewritten file.
    private var comments: [String] = []
    /// Whether lines were read since the differences were last collected.
    @exclusivity(unchecked) private var hasNewLines = false
    /// Whether one of these lines changes a value that was collected or written, but might not be published yet.
    @exclusivity(unchecked) private var isInFlight = false
    /// Whether `load` has returned the values, so that they change only by being published.
    @exclusivity(unchecked) private var isLoaded = false
    /// Whether a load failed because the file could not be read.
    private var isLoadPending = false

    init() {}

    // MARK: Lines

    // Limited, because a file may report any size; beyond that the table grows as lines are read.
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
            // A collected or written value differs from the published one, so its name stays pending.
            mergeOwn()
            let inFlight = pending.keys
            pending = published.differences(to: contents.table)
            for name in inFlight where pending[name] == nil {
                pending.updateValue(contents.table[name], forKey: name)
                isInFlight = true
            }
            hasNewLines = hasNewLines || !pending.isEmpty
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

    /// The comment that follows the values written by a compaction: the file no longer contains their earlier values, but every
    /// later change.
    static let compactionMark = "compacted"

    private func keep(comment: String) {
        if comment != Self.compactionMark { comments.append(comment) }
    }

    /// Whether the last line has no newline and is valid.
    var hasUnfinishedLine: Bool { !unfinished.isEmpty }

    // MARK: Values

    /// All values of the file.
    private var values: ValueTable {
        guard isLoaded else { return table.copy }
        var values = published.copy
        for (name, value) in pending { values.set(value, for: name) }
        // Skips values that are published already, because setting them again would copy everything.
        own.forEach { if published[$0.name] != $0.new { values.set($0.new, for: $0.name) } }
        return values
    }

    /// Returns the file's value of a name.
    private func value(of name: String) -> PropertyListValue? {
        guard isLoaded else { return table[name] }
        if let change = own.firstResult({ $0.name == name ? $0 : nil }) { return change.new }
        if !pending.isEmpty, let value = pending[name] { return value }
        return published[name]
    }

    /// Sets the values of the source that publishes from now on; they must equal those published before.
    func adopt(_ values: StoredValues) { published = values }

    /// Returns the values, which change only by being published from now on.
    func load() -> StoredValues {
        if isLoaded {
            published.set(collectDifferences() ?? [:])
        } else {
            published = StoredValues(exchange(&table, with: ValueTable()))
        }
        isLoaded = true
        isLoadPending = false
        return published
    }

    /// Records that the file could not be read, so that its values are reported as changes once it can.
    func noteLoadFailure() { isLoadPending = true }

    var hasChanges: Bool { isLoadPending || hasNewLines && (isInFlight || hasDifferences) }

    private var hasDifferences: Bool { pending.contains(where: isDifferent) }

    private func isDifferent(_ entry: (key: String, value: PropertyListValue?)) -> Bool {
        published[entry.key] != entry.value
    }

    /// Returns the differences between the file and the published values, which stay pending until published; call with the
    /// turn.
    func collectDifferences() -> [String: PropertyListValue?]? {
        hasNewLines = false
        isInFlight = false
        own = .empty
        guard !pending.isEmpty else { return nil }
        let count = pending.count(where: isDifferent)
        if count == 0 {
            // Keeps the capacity for the next set.
            pending.removeAll(keepingCapacity: pending.count < 64)
            return nil
        }
        if count < pending.count {
            for name in pending.compactMap({ isDifferent($0) ? nil : $0.key }) { pending.removeValue(forKey: name) }
        }
        return pending
    }

    /// Returns whether a condition is true of the file's values; call with the turn.
    func holds(_ condition: PreferenceCondition) -> Bool {
        own = .empty
        if condition.isNone { return true }
        if condition.isComplete { return condition.holds(for: values) }
        return condition.values.allSatisfy { name, expected in value(of: name) == expected }
    }

    /// The part of some changes that the file doesn't contain yet.
    enum Difference {
        case none
        /// All changes, if the file equals the published values; with the differences between these and the changes.
        case published(ShortList<ValueChange>)
        case all
        case some([String: PropertyListValue?])
    }

    /// Returns the part of the changes that the file doesn't contain yet; call with the turn.
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

    /// Records that changes were written, all of which are going to be published.
    ///
    /// Changes that the file contained already were not written; if a later line replaced one of them, that is an external
    /// change.
    func store(_ written: Difference, of changes: ValueChanges) {
        switch written {
        case .none: break
        case .published(let changed):
            own = changed
            // The pending value of a name must be the last one in the file.
            if !pending.isEmpty { mergeOwn() }
        case .all: changes.forEach { pending.updateValue($1, forKey: $0) }
        case .some(let written):
            for (name, value) in written { pending.updateValue(value, forKey: name) }
            hasNewLines = !changes.filter { value(of: $0) != $1 }.isEmpty
        }
    }

    /// Returns a line with the changes that the file doesn't contain, or nil if it contains all of them.
    func line(of difference: Difference, _ changes: ValueChanges) throws(PreferenceError) -> [UInt8]? {
        switch difference {
        case .none: nil
        case .published, .all: try line(of: changes)
        case .some(let written): try line(of: .several(written))
        }
    }

    private func line(of changes: ValueChanges) throws(PreferenceError) -> [UInt8] {
        // Removing from the end takes a third of the time of `removeAll`.
        if line.count <= 1000 { line.removeLast(line.count) } else { line = [] }
        try JSONLine.write(changes, to: &line)
        return line
    }

    private func mergeOwn() {
        own.forEach { pending.updateValue($0.new, forKey: $0.name) }
        own = .empty
    }

    private func set(_ value: PropertyListValue?, for name: String) {
        guard isLoaded else { return table.set(value, for: name) }
        mergeOwn()
        if pending[name] != nil {
            isInFlight = true
        } else if published[name] == value {
            return
        }
        pending.updateValue(value, forKey: name)
        hasNewLines = true
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
