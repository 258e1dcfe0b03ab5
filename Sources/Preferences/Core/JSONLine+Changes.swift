extension JSONLine {
    /// Appends the line of a transaction, including the newline; a nil value removes the name.
    package static func write(_ changes: [String: PropertyListValue?], to bytes: inout [UInt8]) throws(PreferenceError)
    {
        try write(changes.map { StoredChange($0.key, $0.value) }, to: &bytes)
    }

    /// Appends the line of a transaction, including the newline.
    ///
    /// The names are sorted by their UTF-8 bytes, so equal changes give equal lines; of a name that has several, the last one counts. If this
    /// throws, `bytes` is unchanged.
    static func write(_ changes: [StoredChange], to bytes: inout [UInt8]) throws(PreferenceError) {
        if changes.count == 1 {
            let (name, value) = (changes[0].name, changes[0].value)
            if !appendPlainLine(name, value, to: &bytes) { try write(name: name, value: value, to: &bytes) }
            return
        }
        let sorted = changes.sortedByBytes(\.name)
        try append(to: &bytes) { (bytes, limit) throws(PreferenceError) in
            bytes.append(UInt8(ascii: "{"))
            var isFirst = true
            for (index, change) in sorted.enumerated() {
                if index + 1 < sorted.count, sorted[index + 1].name == change.name { continue }
                if !isFirst { bytes.append(UInt8(ascii: ",")) }
                isFirst = false
                try appendEntry(change.name, change.value, to: &bytes, limit: limit)
            }
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Throws if a line of the changes can't be written; cheap for small changes.
    @inline(__always)
    package static func check(_ changes: [StoredChange]) throws(PreferenceError) {
        if changes.count == 1, 1...1000 ~= changes[0].name.utf8.count, changes[0].value?.isShort ?? true { return }
        try checkEach(changes)
    }

    @inline(never)
    private static func checkEach(_ changes: [StoredChange]) throws(PreferenceError) {
        let size = changes.reduce(0) { $0 + longestEntry($1.name, $1.value) }
        guard size >= maximumLength else { return }
        var line: [UInt8] = []
        try write(changes, to: &line)
    }
}
