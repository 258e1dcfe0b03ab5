extension JSONLine {
    /// Appends the line of a transaction, as the form for a dictionary does.
    static func write(_ changes: ValueChanges, to bytes: inout [UInt8]) throws(PreferenceError) {
        switch changes {
        case .one(let name, let value):
            if !appendPlainLine(name, value, to: &bytes) { try write(name: name, value: value, to: &bytes) }
        case .several(let changes): try write(changes, to: &bytes)
        }
    }

    /// Throws if a line of the changes can't be written; cheap for small changes.
    @inline(__always)
    package static func check(_ changes: ValueChanges) throws(PreferenceError) {
        if case .one(let name, let value) = changes, 1...1000 ~= name.utf8.count, value?.isShort ?? true { return }
        try checkEach(changes)
    }

    @inline(never)
    private static func checkEach(_ changes: ValueChanges) throws(PreferenceError) {
        var size = 0
        changes.forEach { name, value in size += longestEntry(name, value) }
        guard size >= maximumLength else { return }
        var line: [UInt8] = []
        try write(changes.dictionary, to: &line)
    }
}
