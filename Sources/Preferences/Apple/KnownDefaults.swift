#if canImport(Darwin) || STANDINS
internal import DurableFile

/// What a store knows of the names in user defaults that it uses, and whether that may be outdated.
///
/// Pure: it reads nothing. Who reads takes a ticket before, and what it found counts only if nothing happened since.
struct KnownDefaults {
    private struct Name {
        var value: PropertyListValue?
        var isForced = false
        /// Whether the store has set or removed the value, and nobody has changed it since, as far as is known. Then the domain
        /// itself holds it; else it may be registered, an argument or that of all programs.
        var isOwn = false
        /// Counts what may have changed the value.
        var doubts: UInt64 = 0
        /// Counts the store's own sets.
        var sets: UInt64 = 0
        /// Counts the reads that found another value.
        var reads: UInt64 = 0
        /// The counts when the value was read.
        var read: Ticket?
    }

    /// How often a name, and all of them, may have changed, and what the store did and found.
    struct Ticket: Equatable {
        fileprivate let sets: UInt64
        fileprivate let reads: UInt64
        fileprivate let doubts: UInt64
        fileprivate let allDoubts: UInt64
    }

    private var known: [String: Name] = [:]
    private var allDoubts: UInt64 = 0
    /// About how many bytes the values take together.
    private(set) var size = 0
    /// Changes that were read and that the store has not taken in yet.
    private var untold: [String: PropertyListValue?] = [:]

    subscript(name: String) -> PropertyListValue? { known[name]?.value }

    /// The names in use.
    var names: Set<String> { Set(known.keys) }

    func values(of names: Set<String>) -> [String: PropertyListValue] {
        names.reduce(into: [:]) { $0[$1] = known[$1]?.value }
    }

    func isForced(_ name: String) -> Bool { known[name]?.isForced ?? false }

    // MARK: Reading

    /// Puts a name into use, if it isn't yet.
    mutating func startReading(_ name: String) -> Ticket {
        let new = known[name] ?? Name()
        known[name] = new
        return ticket(of: new)
    }

    /// Whether nothing has happened to a name since a ticket was taken.
    func isCurrent(_ ticket: Ticket, of name: String) -> Bool { ticket == self.ticket(of: known[name] ?? Name()) }

    /// Whether the store knows nothing newer of a name than when a ticket was taken.
    func isNewest(_ ticket: Ticket, of name: String) -> Bool {
        known[name].map { $0.sets == ticket.sets && $0.reads == ticket.reads } ?? true
    }

    /// Takes in what was read.
    mutating func take(_ value: PropertyListValue?, isForced: Bool, under name: String, readAt ticket: Ticket) {
        var new = known[name] ?? Name()
        let isFirst = new.read == nil
        new.isForced = isForced
        // Others may blur the kind of a number: then the declared type decides, so it is no change.
        if isFirst || !Self.isSame(value, new.value) {
            size += Self.size(of: value, named: name) - Self.size(of: new.value, named: name)
            new.value = value
            new.isOwn = false
            if !isFirst { untold.updateValue(value, forKey: name) }
            // Who began to read before, and found another value, reads again.
            let isCurrent = ticket == self.ticket(of: new)
            new.reads += 1
            new.read = isCurrent ? self.ticket(of: new) : ticket
        } else {
            new.read = ticket
        }
        known[name] = new
    }

    func isCurrent(_ name: String) -> Bool {
        known[name].map { $0.read == ticket(of: $0) } ?? false
    }

    /// Notes that a name may have changed; false if it isn't in use.
    mutating func doubt(_ name: String) -> Bool {
        known[name]?.doubts += 1
        return known[name] != nil
    }

    /// Notes that any name may have changed; false if none is in use.
    mutating func doubtAll() -> Bool {
        allDoubts += 1
        return !known.isEmpty
    }

    private func ticket(of name: Name) -> Ticket {
        Ticket(sets: name.sets, reads: name.reads, doubts: name.doubts, allDoubts: allDoubts)
    }

    private static func isSame(_ left: PropertyListValue?, _ right: PropertyListValue?) -> Bool {
        guard let left, let right else { return left == right }
        return left.isSame(as: right)
    }

    // MARK: Changes for the store

    var hasUntold: Bool { !untold.isEmpty }

    mutating func takeUntold() -> [String: PropertyListValue?] { exchange(&untold, with: [:]) }

    /// Takes back that the store was told.
    mutating func untake(_ changes: [String: PropertyListValue?]) { untold.merge(changes) { new, _ in new } }

    // MARK: Setting

    /// Whether the store itself has set the name to a value, or removed it, so that nothing need be written.
    func hasSet(_ name: String, to value: PropertyListValue?) -> Bool {
        guard let name = known[name] else { return false }
        return name.value == value && (name.isOwn || value == nil)
    }

    /// Notes what will be written before the name is read again.
    mutating func set(_ name: String, to value: PropertyListValue?) {
        var new = known[name] ?? Name()
        size += Self.size(of: value, named: name) - Self.size(of: new.value, named: name)
        new.value = value
        new.isOwn = true
        // A read that has begun is outdated by this; the new value is current.
        new.sets += 1
        new.read = ticket(of: new)
        known[name] = new
    }

    /// The size once these changes are made.
    func size(with changes: [String: PropertyListValue?]) -> Int {
        changes.reduce(size) { size, change in
            size + Self.size(of: change.value, named: change.key) - Self.size(of: self[change.key], named: change.key)
        }
    }

    private static func size(of value: PropertyListValue?, named name: String) -> Int {
        value.map { 9 + name.utf8.count + $0.approximateSize } ?? 0
    }
}
#endif

#if canImport(Darwin) || STANDINS
/// The values that are still to be written to user defaults, in order; one thread at a time writes.
struct UserDefaultsQueue {
    private var entries: [(name: String, value: PropertyListValue?)] = []
    private var head = 0
    /// How many entries of a name are not written.
    private var counts: [String: Int] = [:]
    /// The thread that writes, and whether it was notified of its own set already.
    private var writer: (thread: ThreadIdentity, isNotified: Bool)?
    /// How many entries there were, and how many are written.
    private(set) var last = 0
    private var written = 0

    mutating func append(_ changes: [String: PropertyListValue?]) {
        for (name, value) in changes {
            entries.append((name, value))
            counts[name, default: 0] += 1
            last += 1
        }
    }

    /// Whether anything of a name is not written.
    func holds(_ name: String) -> Bool { counts[name] != nil }

    /// Whether everything up to a count is written.
    func isWritten(_ count: Int) -> Bool { written >= count }

    var isWriting: Bool { writer != nil }
    func isWriting(on thread: ThreadIdentity) -> Bool { writer?.thread == thread }

    /// Returns the value to write next; nil where nothing waits, or another thread writes. Followed by `finish`.
    ///
    /// Of a name that was set several times, the last value.
    mutating func next(for thread: ThreadIdentity) -> (name: String, value: PropertyListValue?)? {
        guard writer == nil, head < entries.count else { return nil }
        while let count = counts[entries[head].name], count > 1 {
            counts[entries[head].name] = count - 1
            written += 1
            head += 1
        }
        if head > 64, head > entries.count / 2 {
            entries.removeFirst(head)
            head = 0
        }
        writer = (thread, false)
        defer { head += 1 }
        return entries[head]
    }

    /// Whether a notification on this thread is the one of its own set, which posts one.
    mutating func takeNotification(on thread: ThreadIdentity) -> Bool {
        guard let writer, writer.thread == thread, !writer.isNotified else { return false }
        self.writer?.isNotified = true
        return true
    }

    /// Notes that what `next` gave is written.
    mutating func finish(_ name: String) {
        writer = nil
        written += 1
        counts[name] = counts[name].flatMap { $0 > 1 ? $0 - 1 : nil }
        guard head == entries.count else { return }
        entries.removeAll()
        head = 0
    }
}
#endif
