/// Values by name: those of a file as they stand in its text, parsed when they are asked for, and those that were set.
///
/// A name takes some 24 bytes besides its own. Names are equal as Swift's strings are: those of ASCII by their bytes, all
/// others are in a dictionary. Not copyable, as each use would count the references of all parts.
struct ValueTable: ~Copyable, Sendable {
    /// The text of names and values, also of those that are gone; each name stands before its first value.
    private var text: [UInt8] = []
    /// How many bytes of the text are needed no more.
    private var deadCount = 0
    private var entries: [Entry] = []
    /// By the hash of its name the number of each entry, from 1; 0 for none. A power of two.
    private var places: [UInt32] = []
    /// What was set, by the entries that say so.
    private var values: [PropertyListValue?] = []
    /// What no entry can have: names that aren't ASCII, or don't fit.
    private var others: [String: PropertyListValue] = [:]
    /// Whether names of ASCII are among these.
    private var isOverfull = false
    /// How many names have a value.
    private(set) var count = 0

    private struct Entry {
        var nameStart: UInt32
        var nameCount: UInt16
        /// The bits of the name's hash that choose no place.
        var hash: UInt16
        /// Where the value's text begins, or which of the values it is.
        var start: UInt32
        /// How many bytes the text has, none where there is no value.
        var length: UInt32

        /// The length that says that the value was set.
        static let isSet = UInt32.max
    }

    init(_ values: [String: PropertyListValue] = [:]) {
        for (name, value) in values { set(value, for: name) }
    }

    private init(copying other: borrowing ValueTable) {
        text = other.text
        deadCount = other.deadCount
        entries = other.entries
        places = other.places
        values = other.values
        others = other.others
        isOverfull = other.isOverfull
        count = other.count
    }

    /// The same values; both share everything until one of them changes, which then copies all.
    var copy: ValueTable { ValueTable(copying: self) }

    var isEmpty: Bool { count == 0 }

    /// How many bytes of text are kept.
    var textCount: Int { text.count }

    /// How many names are known, also of such as have no value any more.
    var entryCount: Int { entries.count }

    /// Makes room for lines of so many bytes.
    mutating func reserve(_ byteCount: Int) {
        text.reserveCapacity(text.count + byteCount)
        if places.isEmpty { makePlaces(byteCount / 64) }
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
            assertionFailure("text that the scanner took for valid: \(error)")
            return nil
        }
    }

    private func withText<Result>(of entry: Entry, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        text.withUnsafeBytes { body($0.part(entry.start, entry.length)) }
    }

    /// The entry of a name, whether or not it has a value; it stays the name's own until a new name comes.
    func index(of name: String) -> Int? {
        let known: Int?? = name.utf8.withContiguousStorageIfAvailable { index(of: UnsafeRawBufferPointer($0)) }
        if let index = known.flatMap(\.self) { return index }
        guard !entries.isEmpty, var name = name.inASCII ?? (known == nil ? name : nil) else { return nil }
        return name.withUTF8 { index(of: UnsafeRawBufferPointer($0)) }
    }

    private func index(of name: UnsafeRawBufferPointer) -> Int? {
        index(of: name, hash: Self.hash(name))
    }

    @inline(__always)
    private func index(of name: UnsafeRawBufferPointer, hash: UInt64) -> Int? {
        guard !places.isEmpty else { return nil }
        return text.withUnsafeBytes { text in
            let mask = places.count &- 1
            var place = Int(truncatingIfNeeded: hash) & mask
            while true {
                let number = places[place]
                if number == 0 { return nil }
                let entry = entries[Int(number) &- 1]
                if entry.hash == UInt16(truncatingIfNeeded: hash >> 48), Int(entry.nameCount) == name.count,
                    text.part(entry.nameStart, UInt32(name.count)).isEqual(to: name)
                {
                    return Int(number) &- 1
                }
                place = (place &+ 1) & mask
            }
        }
    }

    /// The seed of the standard library, so that nobody can choose names that all have one place.
    private static let seed = UInt64(bitPattern: Int64("".hashValue))

    @inline(__always)
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let count = bytes.count
        var hash = seed ^ UInt64(truncatingIfNeeded: count)
        guard count >= 8 else { return mixed(hash ^ bytes.short) }
        var index = 0
        while index &+ 8 < count {
            hash = mixed(hash ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index &+= 8
        }
        // The last eight, some of which were taken before.
        return mixed(hash ^ bytes.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
    }

    /// Both halves of the product, as the upper one depends on all bits (wyhash).
    @inline(__always)
    private static func mixed(_ word: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
        return product.high ^ product.low
    }

    private func has(_ name: String) -> Bool {
        if let index = index(of: name) { return has(entries[index]) }
        return others[name] != nil
    }

    /// What setting a name would change; nil where that is its value.
    func change(of name: String, to new: PropertyListValue?) -> ValueChange? {
        let index = index(of: name)
        let old = if let index { self[index] } else { others.isEmpty ? nil : others[name] }
        return old == new ? nil : ValueChange(name: name, from: old, at: index, to: new)
    }

    // MARK: All of it

    /// The names that have a value, in no order that counts.
    var names: [String] {
        var names: [String] = []
        names.reserveCapacity(count)
        for index in entries.indices where has(entries[index]) { names.append(name(of: entries[index])) }
        names.append(contentsOf: others.keys)
        return names
    }

    /// All of it, parsed.
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

    /// What of `other` is different, nil where it has no value.
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

    /// Whether a name's value has the same text here as in another table; else it may be the same value all the same.
    private func hasSameText(as other: Entry, of table: borrowing ValueTable) -> Bool {
        table.text.withUnsafeBytes { text in
            guard other.length != Entry.isSet,
                let index = index(of: text.part(other.nameStart, UInt32(other.nameCount))),
                entries[index].length == other.length
            else { return false }
            return withText(of: entries[index]) { $0.isEqual(to: text.part(other.start, other.length)) }
        }
    }

    /// Appends a line for each name that has a value, by the bytes of the names.
    func appendLines(to bytes: inout [UInt8]) throws(PreferencesError) {
        let names = names
        for number in SortKey.order(of: names.count, { names[$0] }) {
            let name = names[number]
            if let index = index(of: name), entries[index].length != Entry.isSet {
                let entry = entries[index]
                try JSONLine.write(
                    name: name,
                    text: text[Int(entry.start)..<Int(entry.start + entry.length)],
                    to: &bytes
                )
            } else {
                try JSONLine.write(name: name, value: self[name], to: &bytes)
            }
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

    /// Adds an entry for a value that is about to be appended to `values`; false for a name that no entry can have.
    private mutating func add(_ name: UnsafeRawBufferPointer) -> Bool {
        guard name.isASCII, fits(name, count: name.count) else { return false }
        makeRoom()
        add(name, hash: Self.hash(name), start: values.count, length: Entry.isSet)
        text.append(contentsOf: name)
        return true
    }

    /// Sets the value of an entry; all entries stay where they are.
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
        giveUp(Int(entry.length))
    }

    /// Takes in what a line says, all of it or nothing, and keeps the text of what can be found again in it.
    mutating func read(
        _ line: UnsafeRawBufferPointer,
        isFirst: Bool = false,
        comment: (String) -> Void = { _ in }
    ) throws(JSONLineError) {
        var scanner = JSONScanner(line)
        let first = scanner.next()
        var (step, stepCount) = (first, 0)
        while case .entry = step {
            stepCount += 1
            step = scanner.next()
        }
        guard step == .end else {
            return try JSONLine.read(line, isFirst: isFirst, { set($1, for: $0) }, comment: comment)
        }
        if stepCount == 1 { return set(first, of: line) }
        scanner = JSONScanner(line)
        for _ in 0..<stepCount { set(scanner.next(), of: line) }
    }

    private mutating func set(_ step: JSONScanner.Step, of line: UnsafeRawBufferPointer) {
        guard case .entry(let nameRange, let valueRange) = step else { return }
        let name = UnsafeRawBufferPointer(rebasing: line[nameRange])
        let value = UnsafeRawBufferPointer(rebasing: line[valueRange])
        let hash = Self.hash(name)
        if let index = index(of: name, hash: hash) { return set(text: value, at: index) }
        // From the name to the value's end, with the quote and the colon between them.
        let both = UnsafeRawBufferPointer(rebasing: line[nameRange.lowerBound..<valueRange.upperBound])
        guard !isOverfull, fits(name, count: both.count) else {
            return set(value.isEmpty ? nil : Self.parsed(value), for: String(decoding: name, as: UTF8.self))
        }
        guard !value.isEmpty else { return }
        makeRoom()
        count += 1
        let start = text.count + valueRange.lowerBound - nameRange.lowerBound
        add(name, hash: hash, start: start, length: UInt32(value.count))
        text.append(contentsOf: both)
    }

    /// Makes an entry's value that of a text; an empty one is none.
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
            giveUp(Int(entry.length) - new.count)
        } else {
            entries[index].start = UInt32(text.count)
            text.append(contentsOf: new)
            giveUp(Int(entry.length))
        }
    }

    /// Whether a name can have an entry, and so many bytes more of text have a place.
    private func fits(_ name: UnsafeRawBufferPointer, count: Int) -> Bool {
        name.count <= Int(UInt16.max) && text.count + count < Int(UInt32.max)
    }

    /// Adds an entry for a name that the caller appends to the text, after `makeRoom`.
    private mutating func add(_ name: UnsafeRawBufferPointer, hash: UInt64, start: Int, length: UInt32) {
        entries.append(
            Entry(
                nameStart: UInt32(text.count),
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

    /// Makes places for one entry more; where most entries have no value these are dropped.
    private mutating func makeRoom() {
        guard (entries.count + 1) * 4 > places.count * 3 else { return }
        if entries.count > 2 * count + 16 { dropEmptyEntries() }
        makePlaces(entries.count + 1)
    }

    /// Makes at least twice as many places as there are to be entries.
    private mutating func makePlaces(_ entryCount: Int) {
        var placeCount = 16
        while placeCount < 2 * entryCount { placeCount *= 2 }
        places = Array(repeating: 0, count: placeCount)
        for (index, entry) in entries.enumerated() {
            let hash = text.withUnsafeBytes { Self.hash($0.part(entry.nameStart, UInt32(entry.nameCount))) }
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

    /// Notes that bytes of the text are needed no more, and gives them back once they are most of it.
    private mutating func giveUp(_ byteCount: Int) {
        deadCount += byteCount
        if deadCount > max(text.count / 2, 64 << 10) { repackText() }
    }

    private mutating func repackText() {
        let old = text
        text = []
        text.reserveCapacity(max(0, old.count - deadCount))
        deadCount = 0
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

extension UnsafeRawBufferPointer {
    /// Up to seven bytes as a number; of the same count, different bytes make different numbers.
    fileprivate var short: UInt64 {
        if count >= 4 {
            let (first, last) = (
                loadUnaligned(as: UInt32.self), loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            )
            return UInt64(first) << 32 | UInt64(last)
        }
        return count == 0 ? 0 : UInt64(self[0]) << 16 | UInt64(self[count / 2]) << 8 | UInt64(self[count &- 1])
    }

    fileprivate func part(_ start: UInt32, _ count: UInt32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[Int(start)..<Int(start) + Int(count)])
    }
}

extension String {
    /// The same name in ASCII, of one that has characters which Unicode takes for such of ASCII; nil for every other.
    fileprivate var inASCII: String? {
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var ascii = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "\u{0}"..."\u{7F}": ascii.append(scalar)
            case "\u{037E}": ascii.append(";")
            case "\u{1FEF}": ascii.append("`")
            case "\u{212A}": ascii.append("K")
            default: return nil
            }
        }
        return String(ascii)
    }
}
