extension JSONLine {
    /// Throws if a line of the changes can't be written; cheap for small changes.
    @inline(__always)
    static func check(_ changes: [Change]) throws(PreferenceError) {
        if changes.count == 1, 1...1000 ~= changes[0].name.utf8.count, changes[0].value?.isShort ?? true { return }
        try checkEach(changes)
    }

    @inline(never)
    private static func checkEach(_ changes: [Change]) throws(PreferenceError) {
        let size = changes.reduce(0) { $0 + longestEntry($1.name, $1.value) }
        guard size >= maximumLength else { return }
        var line: [UInt8] = []
        try write(Dictionary(changes.map { ($0.name, $0.value) }) { $1 }, to: &line)
    }
}
