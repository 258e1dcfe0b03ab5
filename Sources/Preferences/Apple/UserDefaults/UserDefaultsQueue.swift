#if canImport(Darwin) || STANDINS
/// What is still to be written to user defaults, in order; one thread at a time writes.
struct UserDefaultsQueue {
    private var entries: [(name: String, value: PropertyListValue?)] = []
    private var head = 0
    /// How many entries of a name are not written.
    private var counts: [String: Int] = [:]
    private var isWriting = false

    mutating func append(_ changes: [String: PropertyListValue?]) {
        for (name, value) in changes {
            entries.append((name, value))
            counts[name, default: 0] += 1
        }
    }

    /// Whether anything of a name is not written.
    func holds(_ name: String) -> Bool { counts[name] != nil }

    /// What to write next; nil where nothing waits, or another thread writes it. Followed by `finish`.
    mutating func next() -> (name: String, value: PropertyListValue?)? {
        guard !isWriting, head < entries.count else { return nil }
        isWriting = true
        defer { head += 1 }
        return entries[head]
    }

    /// Notes that what `next` gave is written.
    mutating func finish(_ name: String) {
        isWriting = false
        counts[name] = counts[name].flatMap { $0 > 1 ? $0 - 1 : nil }
        guard head == entries.count else { return }
        entries.removeAll()
        head = 0
    }
}
#endif
