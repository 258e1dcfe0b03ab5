internal import DurableFile

/// The values of a preferences file: those that are published, and the file's changes since.
package final class FileContents: LogContents, @unchecked Sendable {  // used under its log's lock only
    /// The values in the file, until `load` returns them.
    // Accesses are exclusive under the log's lock; checking that took a hundred instructions for each line, and twice as many
    // for a set.
    @exclusivity(unchecked) private var table = ValueTable()
    /// The values as they are published, and the file's changes since: those of the source after it has adopted the backend.
    @exclusivity(unchecked) private(set) var values: StoredValues
    /// The last line that was written; its memory is reused for the next one.
    @exclusivity(unchecked) private var line: [UInt8] = []
    /// The part of its changes that the file didn't contain before, until `noteWritten` or the next line.
    @exclusivity(unchecked) private var difference = Difference.none
    /// The values that the names of an unfinished last line had before it.
    private var unfinished: [String: PropertyListValue?] = [:]
    /// The number of comments and unknown names, except for the compaction's own comments.
    private var commentCount = 0
    private var isMarked = false
    /// Whether `load` has returned the values, so that they change only by being published.
    @exclusivity(unchecked) private var isLoaded = false
    /// Whether a load failed because the file could not be read.
    private var isLoadPending = false

    init() { values = StoredValues() }

    private init(_ values: StoredValues) { self.values = values }

    // Contents that are never loaded don't use the published values.
    func empty() -> FileContents { FileContents(values) }

    // MARK: Lines

    // Limited, because a file may report any size; beyond that the table grows as lines are read.
    func expect(_ byteCount: Int) { table.reserve(min(byteCount, 64 << 20)) }

    func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        LineReading { () throws(JSONLineError) in
            if isLoaded {
                try JSONLine.read(line, isFirst: isFirst, { set($1, for: $0) }, remark: { keep($0) })
            } else {
                try table.read(line, isFirst: isFirst) { keep($0) }
            }
        }
    }

    func readLines(_ bytes: UnsafeRawBufferPointer) -> (byteCount: Int, lineCount: Int) {
        isLoaded ? (0, 0) : table.readPlainLines(bytes)
    }

    func lengthOfObject(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) -> Int? {
        JSONLine.lengthOfObject(bytes, isFirst: isFirst)
    }

    func readUnfinished(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        LineReading { () throws(JSONLineError) in
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
            // The inbox comes first, because a change leaves it after it is published.
            let names = Set(values.withInbox { $0.changes.keys })
            for name in names.union(values.differences(to: contents.table).keys) {
                set(contents.table[name], for: name)
            }
        } else {
            table = exchange(&contents.table, with: ValueTable())
        }
        unfinished = contents.unfinished
        (commentCount, isMarked) = (contents.commentCount, contents.isMarked)
    }

    func copy() -> FileContents {
        let copy = FileContents()
        copy.table = allValues
        copy.unfinished = unfinished
        (copy.commentCount, copy.isMarked) = (commentCount, isMarked)
        return copy
    }

    func lines(inPlaceOf old: UnsafeRawBufferPointer, isRequested: Bool) throws -> [UInt8] {
        var values = allValues
        for (name, value) in unfinished { values.set(value, for: name) }
        let layout = FileLayout(old)
        let hasMark = (isRequested || layout.isMarked) && !values.isEmpty
        var bytes: [UInt8] = []
        var written: Set<String> = []
        for item in layout.items {
            switch item {
            case .comment(let text): try JSONLine.write(comment: text, to: &bytes)
            case .unknown(let text): bytes += "{\(text)}\n".utf8
            case .space: if !bytes.isEmpty, !bytes.endsWithEmptyLine { bytes.append(UInt8(ascii: "\n")) }
            case .name(let name):
                guard values[name] != nil else { continue }
                written.insert(name)
                try values.appendLine(of: name, to: &bytes)
                if !hasMark, layout.overridden.contains(name) { FileLayout.markOverridden(&bytes) }
            }
        }
        if bytes.endsWithEmptyLine { bytes.removeLast() }
        if written.count < values.count { try values.appendLines(except: written, to: &bytes) }
        if hasMark { try JSONLine.write(comment: FileLayout.compactionMark, to: &bytes) }
        return bytes
    }

    var lineCount: Int { allValues.count + commentCount + (isMarked ? 1 : 0) }

    func mayBeEntries(_ line: UnsafeRawBufferPointer) -> Bool {
        // A loss of power might leave zeros in place of parts of several lines and of their ends.
        if line.contains(0) {
            let parts = line.split(separator: 0)
            return parts.allSatisfy(\.isText)
                && parts.contains { $0.starts(with: #"{""#.utf8) || $0.elementsEqual("{".utf8) }
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = line.dropFirst(line.starts(with: mark) ? mark.count : 0).drop { $0 == 32 || $0 == 9 || $0 == 13 }
        guard text.first == UInt8(ascii: "{"),
            text.dropFirst().first(where: { $0 != 32 && $0 != 9 }) == UInt8(ascii: "\"")
        else { return false }
        // Other JSON is a file of another program, unless it has forms of this one, such as of a newer version.
        do throws(JSONLineError) { _ = try JSONLine.readPlain(UnsafeRawBufferPointer(rebasing: text)) } catch {
            return true
        }
        if text.contains(UInt8(ascii: "\n")) { return false }
        return text.indices.contains { text[$0] == UInt8(ascii: "\"") && text[$0...].starts(with: "\"$".utf8) }
    }

    func repetition(of lines: [UInt8], after old: UnsafeRawBufferPointer) throws -> [UInt8] {
        var values: [String: PropertyListValue?] = allValues.dictionary.mapValues(Optional.some)
        for line in old.split(separator: 10) {
            do throws(JSONLineError) {
                try JSONLine.read(UnsafeRawBufferPointer(rebasing: line), isFirst: line.startIndex == 0) { name, _ in
                    if value(of: name) == nil { values.updateValue(nil, forKey: name) }
                }
            } catch {
                // A damaged line has no names.
            }
        }
        var bytes: [UInt8] = []
        // All in one line, which counts as a whole or not at all: of a line of several names, a loss of power must not leave some.
        do throws(PreferenceError) { if !values.isEmpty { try JSONLine.write(.several(values), to: &bytes) } } catch {
            guard error.code == .tooLarge else { throw error }
            for (name, value) in values where value == nil { try JSONLine.write(name: name, value: nil, to: &bytes) }
        }
        try JSONLine.write(comment: FileLayout.repetitionMark, to: &bytes)
        bytes += lines
        try JSONLine.write(comment: FileLayout.repetitionEnd, to: &bytes)
        return bytes
    }

    private func keep(_ remark: JSONLine.Remark) {
        switch remark {
        case .comment(FileLayout.compactionMark): isMarked = true
        case .comment(FileLayout.repetitionMark): (commentCount, isMarked) = (0, false)
        case .comment(FileLayout.repetitionEnd): break
        default: commentCount += 1
        }
    }

    // MARK: Values

    /// All values of the file.
    private var allValues: ValueTable {
        guard isLoaded else { return table.copy }
        // Before the values, because a change leaves the inbox after it is published.
        let changes = values.withInbox { $0.changes }
        var all = values.copy
        // Skips values that are published already, because setting them again would copy everything.
        for (name, value) in changes where values[name] != value { all.set(value, for: name) }
        return all
    }

    /// Returns the file's value of a name.
    private func value(of name: String) -> PropertyListValue? { isLoaded ? values.stored(name) : table[name] }

    /// Sets the values of the source that publishes from now on; they must equal those published before.
    func adopt(_ values: StoredValues) { self.values = values }

    /// Returns the values, which change only by being published from now on.
    func load() -> StoredValues {
        if isLoaded {
            publish { _ in }
        } else {
            values = StoredValues(exchange(&table, with: ValueTable()))
        }
        isLoaded = true
        isLoadPending = false
        return values
    }

    /// Publishes all changes, for a backend that no source has adopted.
    func publish(_ body: (Inbox.Batch) -> Void) {
        while let batch = values.withInbox({ $0.next() }) {
            values.set(batch.dictionary)
            body(batch)
        }
    }

    /// Records that the file could not be read, so that its values are reported as changes once it can.
    func noteLoadFailure() { isLoadPending = true }

    var hasChanges: Bool { isLoadPending || values.hasUnpublished && values.withInbox { $0.hasExternalChanges } }

    /// Returns whether a condition is true of the file's values.
    func holds(_ condition: PreferenceCondition) -> Bool {
        if condition.isNone { return true }
        if condition.isComplete { return condition.holds(for: allValues) }
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

    /// Returns the part of the changes that the file doesn't contain yet.
    private func difference(of changes: ValueChanges) -> Difference {
        if !values.hasUnpublished {
            let changed = values.differences(of: changes)
            if changed.isEmpty { return .none }
            if changed.count == changes.count { return .published(changed) }
        }
        let written = changes.filter { name, new in value(of: name) != new }
        if written.isEmpty { return .none }
        return written.count == changes.count ? .all : .some(written.dictionary)
    }

    /// Records that the line of changes, which `line` returned, was written.
    func noteWritten(_ changes: ValueChanges) { store(exchange(&difference, with: .none), of: changes) }

    /// Records that a part of changes was written.
    ///
    /// Changes that the file contained already were not written; if a later line replaced one of them, that is an external
    /// change.
    func store(_ written: Difference, of changes: ValueChanges) {
        switch written {
        case .none: break
        case .published(let changed): values.withInbox { if !$0.addFirst(changed) { $0.addOwn(changes) } }
        case .all: values.withInbox { $0.addOwn(changes) }
        case .some(let written):
            values.withInbox { $0.addOwn(.several(written)) }
            changes.forEach { name, new in
                let value = value(of: name)
                if value != new { values.withInbox { $0.add([name: value]) } }
            }
        }
    }

    /// Returns a line with the changes that the file doesn't contain, or nil if it contains all of them.
    func line(of changes: ValueChanges) throws(PreferenceError) -> [UInt8]? {
        difference = difference(of: changes)
        switch difference {
        case .none: return nil
        case .published, .all: return try write(changes)
        case .some(let missing): return try write(.several(missing))
        }
    }

    private func write(_ changes: ValueChanges) throws(PreferenceError) -> [UInt8] {
        // Removing from the end takes a third of the time of `removeAll`.
        if line.count <= 1000 { line.removeLast(line.count) } else { line = [] }
        try JSONLine.write(changes, to: &line)
        return line
    }

    private func set(_ value: PropertyListValue?, for name: String) {
        guard isLoaded else { return table.set(value, for: name) }
        if self.value(of: name) != value { values.withInbox { $0.add(.one(name, value)) } }
    }
}

extension LineReading {
    /// Creates the result of reading a line.
    init(_ body: () throws(JSONLineError) -> Void) {
        do throws(JSONLineError) {
            try body()
            self = .complete
        } catch {
            switch error.kind {
            case .incomplete: self = .incomplete
            case .unknownFormat: self = .refused(error.description)
            case .damaged: self = .damaged(error.description)
            }
        }
    }
}

extension [UInt8] {
    fileprivate var endsWithEmptyLine: Bool { suffix(2) == [UInt8(ascii: "\n"), UInt8(ascii: "\n")] }
}
