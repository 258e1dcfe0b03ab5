/// Values by name: those of a file, as text that is parsed on access, and those that were set.
///
/// An entry takes about 24 bytes in addition to its name. Names are compared as Swift strings are: ASCII names by their bytes,
/// all other names in a dictionary. It is `~Copyable`, because each copy would count the references of all parts.
struct ValueTable: ~Copyable, Sendable {
    /// The text of names and values, including unused text; each name precedes its first value.
    private var text: [UInt8] = []
    /// The number of unused bytes in the text.
    private var unusedCount = 0
    private var entries: [Entry] = []
    /// The number of each entry, from 1, in an open hash table by name; 0 for a free place. Its count is a power of two.
    private var places: [UInt32] = []
    /// The values that were set, referenced by entries.
    private var values: [PropertyListValue?] = []
    /// The values of names that can't have an entry, because they aren't ASCII or don't fit.
    private var others: [String: PropertyListValue] = [:]
    /// Whether `others` contains ASCII names.
    private var isOverfull = false
    /// The number of names that have a value.
    private(set) var count = 0

    private struct Entry {
        var nameStart: UInt32
        var nameCount: UInt16
        /// The bits of the name's hash that don't select a place.
        var hash: UInt16
        /// The offset of the value's text, or the index in `values`.
        var start: UInt32
        /// The length of the text in bytes; zero if the name has no value.
        var length: UInt32

        /// The length that marks a value that was set.
        static let isSet = UInt32.max
    }

    init(_ values: [String: PropertyListValue] = [:]) {
        for (name, value) in values { set(value, for: name) }
    }

    private init(copying other: borrowing ValueTable) {
        text = other.text
        unusedCount = other.unusedCount
        entries = other.entries
        places = other.places
        values = other.values
        others = other.others
        isOverfull = other.isOverfull
        count = other.count
    }

    /// A copy of the table. Both share everything until one of them changes, which copies everything.
    var copy: ValueTable { ValueTable(copying: self) }

    var isEmpty: Bool { count == 0 }

    /// The number of bytes of text.
    var textCount: Int { text.count }

    /// The number of known names, including those without a value.
    var entryCount: Int { entries.count }

    /// Reserves space for lines of the given total length in bytes.
    mutating func reserve(_ byteCount: Int) {
        text.reserveCapacity(text.count + byteCount)
        guard places.isEmpty else { return }
        // Enough for short lines, so that the table of a small file seldom grows; a large file may have large values.
        let entryCount = min(byteCount / 32, 4096)
        makePlaces(max(entryCount, byteCount / 64))
        entries.reserveCapacity(entryCount)
    }

    // MARK: Reading

    /// The value of a name.
    subscript(name: String) -> PropertyListValue? {
        if let index = index(of: name) { return self[index] }
        return others.isEmpty ? nil : others[name]
    }

    /// The value of an entry.
    subscript(index: Int) -> PropertyListValue? {
        let entry = entries[index]
        if entry.length == Entry.isSet { return values[Int(entry.start)] }
        return entry.length == 0 ? nil : withText(of: entry, Self.parsed)
    }

    private static func parsed(_ text: UnsafeRawBufferPointer) -> PropertyListValue? {
        do throws(JSONLineError) { return try JSONLine.readValue(text) } catch {
            assertionFailure("text that the scanner accepted: \(error)")
            return nil
        }
    }

    private func withText<Result>(of entry: Entry, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        text.withUnsafeBytes { body($0.part(entry.start, entry.length)) }
    }

    /// Returns the index of a name's entry, with or without a value; valid until a new name is added.
    func index(of name: String) -> Int? {
        let known: Int?? = name.utf8.withContiguousStorageIfAvailable { index(of: UnsafeRawBufferPointer($0)) }
        if let index = known.flatMap(\.self) { return index }
        guard !entries.isEmpty, var name = name.inASCII ?? (known == nil ? name : nil) else { return nil }
        return name.withUTF8 { index(of: UnsafeRawBufferPointer($0)) }
    }

    private func index(of name: UnsafeRawBufferPointer) -> Int? {
        index(of: name, hash: name.nameHash)
    }

    /// Returns the index of a name's entry. Entries may also refer to `rest`, which the caller will append to the text.
    @inline(__always)
    private func index(of name: UnsafeRawBufferPointer, hash: UInt64, rest: UnsafeRawBufferPointer? = nil) -> Int? {
        guard !places.isEmpty else { return nil }
        return text.withUnsafeBytes { text in
            let mask = places.count &- 1
            var place = Int(truncatingIfNeeded: hash) & mask
            while true {
                let number = places[place]
                if number == 0 { return nil }
                let entry = entries[Int(number) &- 1]
                if entry.hash == UInt16(truncatingIfNeeded: hash >> 48), Int(entry.nameCount) == name.count,
                    text.part(entry.nameStart, UInt32(name.count), before: rest).isEqual(to: name)
                {
                    return Int(number) &- 1
                }
                place = (place &+ 1) & mask
            }
        }
    }

    private func has(_ name: String) -> Bool {
        if let index = index(of: name) { return has(entries[index]) }
        return others[name] != nil
    }

    /// Returns the change that setting a name makes; nil if it has that value already.
    func change(of name: String, to new: PropertyListValue?) -> ValueChange? {
        let index = index(of: name)
        let old = if let index { self[index] } else { others.isEmpty ? nil : others[name] }
        return old == new ? nil : ValueChange(name: name, from: old, at: index, to: new)
    }

    // MARK: All values

    /// The names that have a value, in no particular order.
    var names: [String] {
        var names: [String] = []
        names.reserveCapacity(count)
        for index in entries.indices where has(entries[index]) { names.append(name(of: entries[index])) }
        names.append(contentsOf: others.keys)
        return names
    }

    /// All values, parsed.
    var dictionary: [String: PropertyListValue] {
        var dictionary = others
        dictionary.reserveCapacity(count)
        for index in entries.indices {
            if let value = self[index] { dictionary[name(of: entries[index])] = value }
        }
        return dictionary
    }

    private func has(_ entry: Entry) -> Bool { has(entry, among: values) }

    private func has(_ entry: Entry, among values: [PropertyListValue?]) -> Bool {
        entry.length == Entry.isSet ? values[Int(entry.start)] != nil : entry.length > 0
    }

    private func name(of entry: Entry) -> String {
        text.withUnsafeBytes {
            String(decoding: $0.part(entry.nameStart, UInt32(entry.nameCount)), as: UTF8.self)
        }
    }

    /// Returns the values of `other` that differ, nil for names without a value there.
    func differences(to other: borrowing ValueTable) -> [String: PropertyListValue?] {
        var differences: [String: PropertyListValue?] = [:]
        for entry in other.entries where other.has(entry) && !hasSameText(as: entry, of: other) {
            let name = other.name(of: entry)
            if self[name] != other[name] { differences.updateValue(other[name], forKey: name) }
        }
        for (name, value) in other.others where self[name] != value { differences.updateValue(value, forKey: name) }
        if count == other.count, differences.isEmpty { return [:] }
        for name in names where !other.has(name) { differences.updateValue(nil, forKey: name) }
        return differences
    }

    /// Returns whether a name's value has the same text here as in another table. Equal values may have different texts.
    private func hasSameText(as other: Entry, of table: borrowing ValueTable) -> Bool {
        table.text.withUnsafeBytes { text in
            guard other.length != Entry.isSet,
                let index = index(of: text.part(other.nameStart, UInt32(other.nameCount))),
                entries[index].length == other.length
            else { return false }
            return withText(of: entries[index]) { $0.isEqual(to: text.part(other.start, other.length)) }
        }
    }

    /// Appends a line for each name that has a value, except some, ordered by the bytes of the names.
    func appendLines(except others: Set<String> = [], to bytes: inout [UInt8]) throws(PreferenceError) {
        let names = others.isEmpty ? names : names.filter { !others.contains($0) }
        for number in SortKey.order(of: names.count, { names[$0] }) { try appendLine(of: names[number], to: &bytes) }
    }

    /// Appends the line of a name that has a value.
    func appendLine(of name: String, to bytes: inout [UInt8]) throws(PreferenceError) {
        if let index = index(of: name), entries[index].length != Entry.isSet {
            let entry = entries[index]
            guard entry.length > 0 else { return }
            try JSONLine.write(name: name, text: text[Int(entry.start)..<Int(entry.start + entry.length)], to: &bytes)
        } else if let value = self[name] {
            try JSONLine.write(name: name, value: value, to: &bytes)
        }
    }

    // MARK: Changing

    mutating func set(_ value: PropertyListValue?, for name: String) {
        if let index = index(of: name) { return set(value, at: index) }
        if !others.isEmpty, others[name] != nil {
            others[name] = value
            if value == nil { count -= 1 }
        } else if let value {
            count += 1
            var spelling = name.inASCII ?? name
            let isAdded = spelling.withUTF8 { add(UnsafeRawBufferPointer($0)) }
            if isAdded {
                values.append(value)
            } else {
                isOverfull = isOverfull || spelling.utf8.allSatisfy { $0 < 0x80 }
                others[name] = value
            }
        }
    }

    /// Adds an entry for a value that the caller then appends to `values`; returns false if the name can't have an entry.
    private mutating func add(_ name: UnsafeRawBufferPointer) -> Bool {
        guard name.isASCII, fits(name, count: name.count) else { return false }
        makeRoom()
        add(name, at: text.count, hash: name.nameHash, start: values.count, length: Entry.isSet)
        text.append(contentsOf: name)
        return true
    }

    /// Sets the value of an entry; no index changes.
    mutating func set(_ value: PropertyListValue?, at index: Int) {
        let entry = entries[index]
        if entry.length == Entry.isSet {
            let old = exchange(&values[Int(entry.start)], with: value)
            count += (value == nil ? 0 : 1) - (old == nil ? 0 : 1)
            return
        }
        count += (value == nil ? 0 : 1) - (entry.length > 0 ? 1 : 0)
        if value == nil {
            entries[index].length = 0
        } else {
            entries[index].start = UInt32(values.count)
            entries[index].length = Entry.isSet
            values.append(value)
        }
        discardText(Int(entry.length))
    }

    /// Applies a line, all of it or nothing; keeps the text of the entries that `JSONScanner` finds.
    mutating func read(
        _ line: UnsafeRawBufferPointer,
        isFirst: Bool = false,
        remark: (JSONLine.Remark) -> Void = { _ in }
    ) throws(JSONLineError) {
        var scanner = JSONScanner(line)
        let first = scanner.next()
        var (step, stepCount) = (first, 0)
        while case .entry = step {
            stepCount += 1
            step = scanner.next()
        }
        guard step == .end else {
            return try JSONLine.read(line, isFirst: isFirst, { set($1, for: $0) }, remark: remark)
        }
        if stepCount == 1 { return set(first, of: line) }
        scanner = JSONScanner(line)
        for _ in 0..<stepCount { set(scanner.next(), of: line) }
    }

    /// Applies lines from the start of some bytes, up to the first that isn't plain; returns the number of bytes, ends of lines
    /// included, and of lines.
    ///
    /// Has the effect of `read` for each of them, but copies their text at once, and not name by name.
    mutating func readPlainLines(_ bytes: UnsafeRawBufferPointer) -> (byteCount: Int, lineCount: Int) {
        guard !isOverfull, text.count + bytes.count < Int(UInt32.max) else { return (0, 0) }
        var scanner = JSONScanner(bytes)
        // The number of bytes that are in the text already, and those that aren't.
        var (keptCount, rest) = (0, bytes)
        var (lineCount, unused) = (0, 0)
        while let line = scanner.nextPlainLine(longestName: Int(UInt16.max)) {
            lineCount += 1
            // A brace and a quote precede the name.
            let lineStart = line.name.lowerBound - 2
            let name = bytes.part(UInt32(truncatingIfNeeded: line.name.lowerBound), UInt32(line.name.count))
            let length = UInt32(truncatingIfNeeded: line.value.count)
            let hash = name.nameHash
            if let index = index(of: name, hash: hash, rest: rest) {
                unused &+= scanner.offset &- lineStart
                if entries[index].length == Entry.isSet {
                    let value = UnsafeRawBufferPointer(rebasing: bytes[line.value])
                    set(value.isEmpty ? nil : Self.parsed(value), at: index)
                    continue
                }
                let old = exchange(&entries[index].length, with: length)
                entries[index].start = UInt32(truncatingIfNeeded: text.count &- keptCount &+ line.value.lowerBound)
                count += (length > 0 ? 1 : 0) - (old > 0 ? 1 : 0)
                unused &+= Int(old) &- Int(length)
            } else if length == 0 {
                unused &+= scanner.offset &- lineStart
            } else {
                if !hasRoom {
                    // Up to this line, of which no entry is yet: making room may drop text without one.
                    text.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[keptCount..<lineStart]))
                    (keptCount, rest) = (lineStart, UnsafeRawBufferPointer(rebasing: bytes[lineStart...]))
                    unusedCount += unused
                    unused = 0
                    makeRoom()
                }
                count += 1
                // The offset in the text of these bytes' beginning; below zero if what came before was repacked.
                let start = text.count &- keptCount
                let (nameStart, valueStart) = (start &+ line.name.lowerBound, start &+ line.value.lowerBound)
                add(name, at: nameStart, hash: hash, start: valueStart, length: length)
                unused &+= scanner.offset &- lineStart &- name.count &- Int(length)
            }
        }
        text.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[keptCount..<scanner.offset]))
        discardText(unused)
        return (scanner.offset, lineCount)
    }

    private mutating func set(_ step: JSONScanner.Step, of line: UnsafeRawBufferPointer) {
        guard case .entry(let nameRange, let valueRange) = step else { return }
        let name = UnsafeRawBufferPointer(rebasing: line[nameRange])
        let value = UnsafeRawBufferPointer(rebasing: line[valueRange])
        let hash = name.nameHash
        if let index = index(of: name, hash: hash) { return set(text: value, at: index) }
        // The bytes from the name to the end of the value, including the quote and the colon between them.
        let both = UnsafeRawBufferPointer(rebasing: line[nameRange.lowerBound..<valueRange.upperBound])
        guard !isOverfull, fits(name, count: both.count) else {
            return set(value.isEmpty ? nil : Self.parsed(value), for: String(decoding: name, as: UTF8.self))
        }
        guard !value.isEmpty else { return }
        makeRoom()
        count += 1
        let start = text.count + valueRange.lowerBound - nameRange.lowerBound
        add(name, at: text.count, hash: hash, start: start, length: UInt32(value.count))
        text.append(contentsOf: both)
    }

    /// Sets an entry's value to a text; removes the value if the text is empty.
    private mutating func set(text new: UnsafeRawBufferPointer, at index: Int) {
        let entry = entries[index]
        guard entry.length != Entry.isSet, !new.isEmpty, text.count + new.count < Int(UInt32.max) else {
            return set(new.isEmpty ? nil : Self.parsed(new), at: index)
        }
        if entry.length == 0 { count += 1 }
        entries[index].length = UInt32(new.count)
        if new.count <= Int(entry.length) {
            text.withUnsafeMutableBytes { text in
                UnsafeMutableRawBufferPointer(rebasing: text[Int(entry.start)...]).copyMemory(from: new)
            }
            discardText(Int(entry.length) - new.count)
        } else {
            entries[index].start = UInt32(text.count)
            text.append(contentsOf: new)
            discardText(Int(entry.length))
        }
    }

    /// Returns whether the name can have an entry and `count` more bytes of text fit.
    private func fits(_ name: UnsafeRawBufferPointer, count: Int) -> Bool {
        name.count <= Int(UInt16.max) && text.count + count < Int(UInt32.max)
    }

    /// Adds an entry for a name, which the caller then appends to the text so that it is at `nameStart`; call after `makeRoom`.
    private mutating func add(
        _ name: UnsafeRawBufferPointer,
        at nameStart: Int,
        hash: UInt64,
        start: Int,
        length: UInt32
    ) {
        entries.append(
            Entry(
                nameStart: UInt32(nameStart),
                nameCount: UInt16(name.count),
                hash: UInt16(truncatingIfNeeded: hash >> 48),
                start: UInt32(start),
                length: length
            )
        )
        place(entries.count, by: hash)
    }

    private mutating func place(_ number: Int, by hash: UInt64) {
        places.withUnsafeMutableBufferPointer { places in
            let mask = places.count &- 1
            var place = Int(truncatingIfNeeded: hash) & mask
            while places[place] != 0 { place = (place &+ 1) & mask }
            places[place] = UInt32(truncatingIfNeeded: number)
        }
    }

    /// Whether there is a place for one more entry.
    private var hasRoom: Bool { (entries.count + 1) * 4 <= places.count * 3 }

    /// Ensures that there is a place for one more entry; first removes entries without a value if they are the majority.
    private mutating func makeRoom() {
        guard !hasRoom else { return }
        if entries.count > 2 * count + 16 { dropEmptyEntries() }
        makePlaces(entries.count + 1)
    }

    /// Rebuilds the hash table with at least twice as many places as there will be entries.
    private mutating func makePlaces(_ entryCount: Int) {
        var placeCount = 16
        while placeCount < 2 * entryCount { placeCount *= 2 }
        places = Array(repeating: 0, count: placeCount)
        for (index, entry) in entries.enumerated() {
            let hash = text.withUnsafeBytes { $0.part(entry.nameStart, UInt32(entry.nameCount)).nameHash }
            place(index + 1, by: hash)
        }
    }

    private mutating func dropEmptyEntries() {
        let old = values
        values = []
        entries = entries.compactMap { entry in
            guard has(entry, among: old) else { return nil }
            guard entry.length == Entry.isSet else { return entry }
            var entry = entry
            values.append(old[Int(entry.start)])
            entry.start = UInt32(values.count - 1)
            return entry
        }
        repackText()
    }

    /// Counts bytes of the text as unused, and frees them once they are more than half of it and more than 64 KiB.
    private mutating func discardText(_ byteCount: Int) {
        unusedCount += byteCount
        if unusedCount > max(text.count / 2, 64 << 10) { repackText() }
    }

    private mutating func repackText() {
        let old = text
        text = []
        text.reserveCapacity(max(0, old.count - unusedCount))
        unusedCount = 0
        old.withUnsafeBytes { old in
            for index in entries.indices {
                let entry = entries[index]
                entries[index].nameStart = UInt32(text.count)
                text.append(contentsOf: old.part(entry.nameStart, UInt32(entry.nameCount)))
                guard entry.length != Entry.isSet, entry.length > 0 else { continue }
                entries[index].start = UInt32(text.count)
                text.append(contentsOf: old.part(entry.start, entry.length))
            }
        }
    }
}
