extension JSONLine {
    /// Appends the line of a transaction, as the form for a dictionary does.
    static func write(_ changes: [StoredChange], to bytes: inout [UInt8]) throws(PreferenceError) {
        guard changes.count == 1 else {
            return try write(Dictionary(changes.map { ($0.name, $0.value) }) { $1 }, to: &bytes)
        }
        let (name, value) = (changes[0].name, changes[0].value)
        if !appendPlainLine(name, value, to: &bytes) { try write(name: name, value: value, to: &bytes) }
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
        try write(Dictionary(changes.map { ($0.name, $0.value) }) { $1 }, to: &line)
    }
}
