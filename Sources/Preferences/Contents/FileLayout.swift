/// The order of the names, comments and unknown parts in the lines of a file, which a compaction keeps.
package struct FileLayout {
    enum Item: Equatable {
        case name(String)
        case comment(String)
        /// A name of a newer version with its value, as they are in the file.
        case unknown(String)
        /// One or more empty lines.
        case space
    }

    /// The comment that follows the values if someone has asked for the compaction: the file no longer contains their earlier
    /// values, but every later change.
    package static let compactionMark = "compacted"
    /// The comments around the lines at the end of a file that is being rewritten in place, which repeat all that still counts.
    static let repetitionMark = "the lines above are repeated below"
    static let repetitionEnd = "the lines above were repeated"

    /// The names, each where it first appears, the comments, and the empty lines between these.
    private(set) var items: [Item] = []
    /// The names that had other values before; also before an earlier compaction.
    private(set) var overridden: Set<String> = []
    /// Whether the file has a `compactionMark`.
    private(set) var isMarked = false
    /// The last text of each name.
    private var texts: [String: Slice<UnsafeRawBufferPointer>] = [:]
    private var isAfterSpace = false
    /// The items before a repetition that might not be complete.
    private var repeated: [Item] = []

    /// Creates the layout of the complete lines of a file; `lines` must not change while it exists.
    init(_ lines: UnsafeRawBufferPointer) {
        var start = 0
        while start < lines.count {
            let end = lines[start...].firstIndex(of: UInt8(ascii: "\n")) ?? lines.count
            read(UnsafeRawBufferPointer(rebasing: lines[start..<end]), isFirst: start == 0)
            start = end + 1
        }
        texts = [:]
        if !repeated.isEmpty { items = repeated + items.filter { $0 != .space && !repeated.contains($0) } }
    }

    private mutating func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) {
        if line.allSatisfy({ $0 == UInt8(ascii: "\r") }) { return isAfterSpace = true }
        let isOverridden = Self.hasOverridden(line)
        var scanner = JSONScanner(line)
        var step = scanner.next()
        while case .entry = step { step = scanner.next() }
        if step == .end {
            scanner = JSONScanner(line)
            while case .entry(let name, let value) = scanner.next() {
                add(String(decoding: line[name], as: UTF8.self), line[value], isOverridden)
            }
            return
        }
        var (names, remarks): ([String], [JSONLine.Remark]) = ([], [])
        do throws(JSONLineError) {
            try JSONLine.read(
                line,
                isFirst: isFirst,
                { name, _ in names.append(name) },
                remark: { remarks.append($0) }
            )
        } catch {
            // It isn't among the lines of the new file.
            return
        }
        for remark in remarks { add(remark) }
        for name in names { add(name, line[...], isOverridden) }
    }

    private mutating func add(_ name: String, _ text: Slice<UnsafeRawBufferPointer>, _ isOverridden: Bool) {
        let old = texts.updateValue(text, forKey: name)
        if let old { if !old.elementsEqual(text) { overridden.insert(name) } } else { add(.name(name)) }
        if isOverridden { overridden.insert(name) }
    }

    private mutating func add(_ remark: JSONLine.Remark) {
        switch remark {
        case .comment(Self.compactionMark): isMarked = true
        case .comment(Self.repetitionMark):
            (repeated, items, texts, isAfterSpace) = (items, [], [:], false)
        case .comment(Self.repetitionEnd): repeated = []
        case .comment(let text): add(Item.comment(text))
        case .unknown(let text): if !items.contains(.unknown(text)) { add(Item.unknown(text)) }
        }
    }

    private mutating func add(_ item: Item) {
        if isAfterSpace, !items.isEmpty { items.append(.space) }
        isAfterSpace = false
        items.append(item)
    }

    // MARK: Names with overridden values

    // A line of its own that says this would be one more difference to a file that a person keeps in version control. The
    // space is only written into lines that have changed anyway.

    /// Marks the last line of some bytes: the name that it sets had other values, which the file no longer contains.
    static func markOverridden(_ bytes: inout [UInt8]) {
        if bytes.suffix(2) == [UInt8(ascii: "}"), UInt8(ascii: "\n")], bytes.count < JSONLine.maximumLength {
            bytes.insert(UInt8(ascii: " "), at: bytes.count - 2)
        }
    }

    /// Whether a line without its newline is marked by `markOverridden`.
    package static func hasOverridden(_ line: UnsafeRawBufferPointer) -> Bool {
        // A person who writes a space there usually writes one after the brace, too.
        line.count > 3 && line[1] == UInt8(ascii: "\"") && line[line.count - 3] != UInt8(ascii: " ")
            && line[line.count - 2] == UInt8(ascii: " ") && line[line.count - 1] == UInt8(ascii: "}")
    }
}
