@testable internal import Preferences

/// Folds the entries of a file into one object: each name's last value in the place where the name first appeared.
///
/// If the first entry has each member on a line of its own, its text stays, but for the values that later entries have changed. Damaged
/// texts stay as they are, before the object.
struct Fold {
    private let bytes: UnsafeRawBufferPointer
    private var output: [UInt8] = []
    /// The members of the result, in their order.
    private var slots: [Slot] = []
    /// The indices of the slots by name, those that set nothing apart.
    private var places: [String: Int] = [:]
    private var reserved: [String: Int] = [:]
    /// The comments since the last member.
    private var comments: [Range<Int>] = []
    private var indentation: [UInt8] = [0x20, 0x20]
    /// A carriage return, if the text that stays has them.
    private var lineEnd: [UInt8] = []
    /// The text that stays after the first brace, and before the last.
    private var opening = 0..<0
    private var closing: Range<Int>?
    /// Whether a comment on the same line is the last slot's.
    private var isAfterNewSlot = false

    /// An entry or a damaged text.
    private struct Item {
        let range: Range<Int>
        let members: [DocumentReader.Member]
        let isDamage: Bool
    }

    /// A member of the result.
    private struct Slot {
        let name: String
        let isReserved: Bool
        var value: PropertyListValue?
        let key: Range<Int>
        /// The text of the value.
        var text: Range<Int>
        var kept: Kept?
        /// The comments before it, and the one on its line, unless its text stays.
        var comments: [Range<Int>] = []
        var tail: Range<Int>?
    }

    /// The text around a member's key and value that stays.
    private struct Kept {
        /// From the end of the line before, over comments, to that of the line before the key.
        let lead: Range<Int>
        /// The line break and the indentation.
        let margin: Range<Int>
        /// From the key to the value.
        let colon: Range<Int>
        /// From the value to the comma.
        let end: Range<Int>
        let hasComma: Bool
        /// The rest of the line.
        let tail: Range<Int>
    }

    /// Returns the folded text; nil if there is nothing to fold, or the fold would read as other values.
    static func folded(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let items = items(of: bytes), let first = items.firstIndex(where: { !$0.isDamage }) else { return nil }
        var fold = Fold(bytes: bytes)
        let keepsText = fold.keepText(of: items[first])
        let isOne = items.indices.allSatisfy { items[$0].isDamage == ($0 != first) }
        let isLast = items[first...].allSatisfy { !$0.isDamage || $0.members.isEmpty }
        if isOne, isLast, keepsText || items[first].members.isEmpty { return nil }
        let end = fold.collect(items, after: keepsText ? first : nil)
        fold.write(items, end)
        let isSame = fold.output.withUnsafeBytes { folded in
            Self.items(of: folded).map { values(of: $0) == values(of: items) } ?? false
        }
        return isSame && !bytes.elementsEqual(fold.output) ? fold.output : nil
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Returns the entries and the damaged texts; nil if the format is too new.
    private static func items(of bytes: UnsafeRawBufferPointer) -> [Item]? {
        var reader = DocumentReader(bytes, isFinal: true)
        var items: [Item] = []
        while true {
            switch reader.next() {
            case .entry(let start, let end):
                items.append(Item(range: start..<end, members: reader.members, isDamage: false))
            case .damage(let start, let end, _):
                items.append(Item(range: start..<end, members: reader.members, isDamage: true))
            case .end: return reader.newerFormat == nil ? items : nil
            }
        }
    }

    private static func values(of items: [Item]) -> [String: PropertyListValue] {
        items.reduce(into: [:]) { values, item in
            for member in item.members where !member.isReserved { values[member.name] = member.value }
        }
    }

    /// Makes slots of the members of all entries; returns where the last item ends.
    ///
    /// - Parameter kept: The entry whose text stays, and whose slots are made.
    private mutating func collect(_ items: [Item], after kept: Int?) -> Int {
        var end = items[0].range.lowerBound
        for (index, item) in items.enumerated() {
            addComments(end..<item.range.lowerBound)
            end = item.range.lowerBound + 1
            if item.isDamage || index == kept {
                isAfterNewSlot = false
            } else {
                for member in item.members {
                    addComments(end..<member.key)
                    add(member)
                    end = member.end
                }
                addComments(end..<item.range.upperBound - 1)
            }
            end = item.range.upperBound
        }
        // A comment on the line of the last entry is its; those on later lines stay there.
        if isAfterNewSlot, let line = bytes.firstNewline(from: end) {
            addComments(end..<line)
            end = line
        }
        let values = Self.values(of: items)
        for index in slots.indices where !slots[index].isReserved { slots[index].value = values[slots[index].name] }
        return end
    }

    /// Writes all before the first item, the damaged texts, the object, and all from `end` on.
    private mutating func write(_ items: [Item], _ end: Int) {
        output += bytes[..<items[0].range.lowerBound]
        let damaged = items.filter(\.isDamage).sorted { order($0.range) < order($1.range) }
        for (index, item) in damaged.enumerated() {
            if index > 0 || item.range != items[0].range { endLine() }
            // At the begin of the file, it would be the mark of the byte order.
            if output.isEmpty, bytes[item.range].first == 0xEF { output.append(0x0A) }
            output += bytes[item.range]
            if DocumentReader.mayGoOn(UnsafeRawBufferPointer(rebasing: bytes[item.range])) {
                output += DocumentReader.stop
            }
        }
        // A mark of the byte order is no line.
        if output.count > 3 || output.first != 0xEF { endLine() }
        let (values, known) = (Self.values(of: items), Self.values(of: damaged))
        writeObject(known, known.keys.filter { values[$0] == nil }.sortedByBytes)
        output += bytes[end...]
        endLine()
    }

    /// The order of damaged texts: one that doesn't begin with a brace would belong to one before, and a comment without an end begins after
    /// it.
    private func order(_ range: Range<Int>) -> (Int, Int) {
        let isComment = bytes[range].starts(with: "/*".utf8)
        return (isComment ? 0 : bytes[range.lowerBound] == UInt8(ascii: "{") ? 2 : 1, range.lowerBound)
    }

    // MARK: A text that stays

    /// Makes slots of the members of an entry if its text can stay; returns whether it can.
    private mutating func keepText(of entry: Item) -> Bool {
        var cursor = DocumentReader(bytes, from: entry.range.lowerBound + 1)
        guard !entry.members.isEmpty, var lead = restOfLine(&cursor) else { return false }
        let opening = entry.range.lowerBound + 1..<lead
        var slots: [Slot] = []
        for member in entry.members {
            guard let line = startOfLine(member.key), line > lead else { return false }
            var slot = slot(of: member)
            cursor.offset = member.end
            cursor.skipSpace()
            let hasComma = bytes[cursor.offset] == UInt8(ascii: ",")
            let comma = hasComma ? cursor.offset : member.end
            cursor.offset = hasComma ? comma + 1 : comma
            let tail = cursor.offset
            guard let end = restOfLine(&cursor) else { return false }
            slot.kept = Kept(
                lead: lead..<line - 1,
                margin: line - 1..<member.key,
                colon: slot.key.upperBound..<member.start,
                end: member.end..<comma,
                hasComma: hasComma,
                tail: tail..<end
            )
            lead = end
            slots.append(slot)
        }
        guard let line = startOfLine(entry.range.upperBound - 1), line > lead else { return false }
        if let margin = slots[0].kept?.margin { indentation = Array(bytes[margin].dropFirst()) }
        if bytes[lead - 1] == 0x0D { lineEnd = [0x0D] }
        (self.opening, closing) = (opening, lead..<entry.range.upperBound - 1)
        for slot in slots { place(slot) }
        return true
    }

    private func slot(of member: DocumentReader.Member) -> Slot {
        var cursor = DocumentReader(bytes, from: member.key)
        cursor.skipString()
        return Slot(
            name: member.name,
            isReserved: member.isReserved,
            value: member.value,
            key: member.key..<cursor.offset,
            text: member.start..<member.end
        )
    }

    /// Moves to the end of the line, over comments, and returns it; nil if something else comes first.
    private func restOfLine(_ cursor: inout DocumentReader) -> Int? {
        while true {
            switch bytes[cursor.offset] {
            case 0x0A: return cursor.offset
            case 0x20, 0x09, 0x0D: cursor.offset += 1
            case UInt8(ascii: "/"): guard cursor.skipComment() else { return nil }
            default: return nil
            }
        }
    }

    /// Returns the start of the line of a byte; nil if there is more than space before it.
    private func startOfLine(_ offset: Int) -> Int? {
        var start = offset
        while start > 0, bytes[start - 1] == 0x20 || bytes[start - 1] == 0x09 { start -= 1 }
        return start == 0 || bytes[start - 1] == 0x0A ? start : nil
    }

    // MARK: Other entries

    /// Collects the comments between members; one on the line of a new member is its.
    private mutating func addComments(_ range: Range<Int>) {
        var cursor = DocumentReader(bytes, from: range.lowerBound)
        while cursor.offset < range.upperBound {
            let start = cursor.offset
            guard bytes[start] == UInt8(ascii: "/") else {
                if bytes[start] == 0x0A { isAfterNewSlot = false }
                cursor.offset += 1
                continue
            }
            guard cursor.skipComment() else { return }
            var end = cursor.offset
            while bytes[end - 1] == 0x0D || bytes[end - 1] == 0x20 { end -= 1 }
            if isAfterNewSlot, slots[slots.count - 1].tail == nil {
                slots[slots.count - 1].tail = start..<end
            } else {
                comments.append(start..<end)
            }
        }
    }

    private mutating func add(_ member: DocumentReader.Member) { place(slot(of: member)) }

    /// Adds a slot, or has the one of its name take its value.
    private mutating func place(_ slot: Slot) {
        let isNote = slot.isReserved && slot.name == "$comment"
        if !isNote, let index = slot.isReserved ? reserved[slot.name] : places[slot.name] {
            if let kept = slot.kept { addComments(kept.lead) }
            slots[index].comments += comments
            // An equal value leaves the text, with its comments.
            let isEqual = !slot.isReserved && slots[index].value != nil && slots[index].value == slot.value
            if !isEqual { (slots[index].text, slots[index].value) = (slot.text, slot.value) }
            isAfterNewSlot = false
        } else {
            if slot.isReserved { reserved[slot.name] = slots.count } else { places[slot.name] = slots.count }
            slots.append(slot)
            slots[slots.count - 1].comments += comments
            isAfterNewSlot = slot.kept == nil
        }
        comments = []
    }

    // MARK: Writing

    /// Writes the object.
    ///
    /// - Parameters:
    ///   - known: The values that damaged texts set, which needn't be repeated.
    ///   - removed: The names that they set and that were removed.
    private mutating func writeObject(_ known: [String: PropertyListValue], _ removed: [String]) {
        let isWritten = slots.map { $0.isReserved || $0.value != nil && known[$0.name] != $0.value }
        var rest = isWritten.count { $0 } + removed.count
        guard rest > 0 || known.isEmpty || !comments.isEmpty else { return }
        output.append(UInt8(ascii: "{"))
        output += bytes[opening]
        let brace = output.count
        for (index, slot) in slots.enumerated() {
            if let lead = slot.kept?.lead, isWritten[index] || bytes[lead].contains(UInt8(ascii: "/")) {
                output += bytes[lead]
            }
            for comment in slot.comments { writeLine(bytes[comment]) }
            guard isWritten[index] else { continue }
            rest -= 1
            write(slot, isLast: rest == 0, endsWithComma: index == slots.count - 1)
        }
        for name in removed {
            rest -= 1
            var entry: [UInt8] = []
            do throws(PreferenceError) { try JSONLine.write(name: name, value: nil, to: &entry) } catch { continue }
            // Without its braces and its end, and with a space after the colon.
            writeLine(entry.dropFirst().dropLast(6) + Array((rest > 0 ? " null," : " null").utf8))
        }
        for comment in comments { writeLine(bytes[comment]) }
        if let closing { output += bytes[closing] } else if output.count > brace { output.append(0x0A) }
        output.append(UInt8(ascii: "}"))
    }

    private mutating func write(_ slot: Slot, isLast: Bool, endsWithComma: Bool) {
        if let margin = slot.kept?.margin { output += bytes[margin] } else { output += [0x0A] + indentation }
        output += bytes[slot.key]
        if let colon = slot.kept?.colon { output += bytes[colon] } else { output += [UInt8(ascii: ":"), 0x20] }
        output += bytes[slot.text]
        if let kept = slot.kept {
            output += bytes[kept.end]
            if !isLast || kept.hasComma && endsWithComma { output.append(UInt8(ascii: ",")) }
            output += bytes[kept.tail]
        } else {
            if !isLast { output.append(UInt8(ascii: ",")) }
            if let tail = slot.tail { output += [0x20] + bytes[tail] }
            output += lineEnd
        }
    }

    private mutating func writeLine(_ text: some Collection<UInt8>) { output += [0x0A] + indentation + text + lineEnd }

    private mutating func endLine() { if let last = output.last, last != 0x0A { output.append(0x0A) } }
}
