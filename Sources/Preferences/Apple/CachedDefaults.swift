#if canImport(Darwin) || STANDINS
internal import DurableFile

/// The store's cached values of the user defaults names that it uses, and whether each is current.
///
/// The type is pure: it reads nothing. A reader gets a ticket before it reads; the value that it finds is accepted only if the ticket
/// is still current then.
package struct CachedDefaults {
    private struct Entry {
        /// The value that the domain itself holds.
        var value: PropertyListValue?
        /// The value that is shown if the domain holds none: a registered one, or one of the domain of all programs.
        var weaker: PropertyListValue?
        var isForced = false
        /// Whether the store itself set or removed the value and no change since is known.
        var isOwn = false
        /// Whether the last read could tell the domain's own value apart.
        var isOwnKnown = true
        /// The number of possible changes of the value.
        var invalidations: UInt64 = 0
        /// The number of the store's own sets.
        var sets: UInt64 = 0
        /// The number of reads that found another value.
        var reads: UInt64 = 0
        /// The counts at the time when the value was read.
        var read: Ticket?
    }

    /// The counts of a name's possible changes, and of those of all names, and of the store's sets and reads.
    struct Ticket: Equatable {
        fileprivate let sets: UInt64
        fileprivate let reads: UInt64
        fileprivate let invalidations: UInt64
        fileprivate let allInvalidations: UInt64
    }

    private var entries: [String: Entry] = [:]
    private var allInvalidations: UInt64 = 0
    /// The approximate size of all values, in bytes.
    private(set) var size = 0

    subscript(name: String) -> PropertyListValue? { entries[name]?.value }

    /// The names in use.
    var names: Set<String> { Set(entries.keys) }

    func values(of names: Set<String>) -> [String: PropertyListValue] {
        names.reduce(into: [:]) { $0[$1] = entries[$1]?.value }
    }

    func weakerValues(of names: Set<String>) -> [String: PropertyListValue] {
        names.reduce(into: [:]) { $0[$1] = entries[$1]?.weaker }
    }

    func isForced(_ name: String) -> Bool { entries[name]?.isForced ?? false }

    // MARK: Reading

    /// Puts a name into use unless it is in use, and returns a ticket for reading it.
    mutating func startReading(_ name: String) -> Ticket {
        let new = entries[name] ?? Entry()
        entries[name] = new
        return ticket(of: new)
    }

    /// Returns whether nothing happened to a name since the ticket was made.
    func isCurrent(_ ticket: Ticket, of name: String) -> Bool { ticket == self.ticket(of: entries[name] ?? Entry()) }

    /// Returns whether neither a set nor a read gave the name another value since the ticket was made.
    func isNewest(_ ticket: Ticket, of name: String) -> Bool {
        entries[name].map { $0.sets == ticket.sets && $0.reads == ticket.reads } ?? true
    }

    /// Records the values that were read; returns whether one is a change.
    mutating func record(_ found: FoundDefaults, under name: String, readAt ticket: Ticket) -> Bool {
        var new = entries[name] ?? Entry()
        let isFirst = new.read == nil
        new.isForced = found.isForced
        let value: PropertyListValue?
        switch found.own {
        case .known(let own): (value, new.isOwnKnown) = (own, true)
        case .hidden: (value, new.isOwnKnown) = (new.value, false)
        // Without another sign, what this store has set and still finds is in the domain.
        case .unknown: (value, new.isOwnKnown) = (new.isOwn && found.isWeaker(new.value) ? new.value : nil, false)
        }
        // Other code may change the kind of a number; the declared type decides that, so it isn't a change.
        let isOwnDifferent = !Self.isSame(value, new.value)
        let isDifferent = isFirst || isOwnDifferent || !found.isWeaker(new.weaker)
        if isDifferent {
            size += Self.size(of: value, named: name) - Self.size(of: new.value, named: name)
            new.value = value
            new.weaker = found.weaker
            if isFirst || isOwnDifferent { new.isOwn = false }
            // A read that began earlier and found another value must be repeated.
            let isCurrent = ticket == self.ticket(of: new)
            new.reads += 1
            new.read = isCurrent ? self.ticket(of: new) : ticket
        } else {
            new.read = ticket
        }
        entries[name] = new
        return isDifferent && !isFirst
    }

    func isCurrent(_ name: String) -> Bool {
        entries[name].map { $0.read == ticket(of: $0) } ?? false
    }

    /// Returns whether a name is in use and may have changed since it was read.
    func isOutdated(_ name: String) -> Bool { entries[name] != nil && !isCurrent(name) }

    /// Records that a name may have changed; returns false if it isn't in use.
    mutating func invalidate(_ name: String) -> Bool {
        entries[name]?.invalidations += 1
        return entries[name] != nil
    }

    /// Records that any name may have changed; returns false if none is in use.
    mutating func invalidateAll() -> Bool {
        allInvalidations += 1
        return !entries.isEmpty
    }

    private func ticket(of name: Entry) -> Ticket {
        Ticket(
            sets: name.sets,
            reads: name.reads,
            invalidations: name.invalidations,
            allInvalidations: allInvalidations
        )
    }

    static func isSame(_ left: PropertyListValue?, _ right: PropertyListValue?) -> Bool {
        guard let left, let right else { return left == right }
        return left.isSame(as: right)
    }

    // MARK: Setting

    /// Returns whether the store itself set the name to this value or removed it, so that nothing needs to be written.
    func hasSet(_ name: String, to value: PropertyListValue?) -> Bool {
        guard let name = entries[name], name.value == value else { return false }
        // Other code may have removed a value that equals the one below.
        guard name.isOwnKnown else { return false }
        return name.isOwn || value == nil
    }

    /// Records a value that will be written before the name is read again.
    mutating func set(_ name: String, to value: PropertyListValue?) {
        var new = entries[name] ?? Entry()
        size += Self.size(of: value, named: name) - Self.size(of: new.value, named: name)
        new.value = value
        new.isOwn = true
        // Invalidates a read that has begun; the new value is current.
        new.sets += 1
        new.read = ticket(of: new)
        entries[name] = new
    }

    /// Returns the size after these changes.
    func size(with changes: [String: PropertyListValue?]) -> Int {
        changes.reduce(size) { size, change in
            size + Self.size(of: change.value, named: change.key) - Self.size(of: self[change.key], named: change.key)
        }
    }

    /// Returns the approximate size of a value with its name, in bytes.
    package static func size(of value: PropertyListValue?, named name: String) -> Int {
        value.map { 9 + name.utf8.count + $0.approximateSize } ?? 0
    }
}
#endif

#if canImport(Darwin) || STANDINS
/// The values that are still to be written to user defaults, in order; one thread at a time writes.
struct UserDefaultsQueue {
    private var entries: [(name: String, value: PropertyListValue?)] = []
    private var head = 0
    /// The number of unwritten entries of each name.
    private var counts: [String: Int] = [:]
    /// The writing thread, and whether the notification of its own set has been posted.
    private var writer: (thread: ThreadIdentity, isNotified: Bool)?
    /// The number of all entries ever added.
    private(set) var last = 0
    private var written = 0

    mutating func append(_ changes: [String: PropertyListValue?]) {
        for (name, value) in changes {
            entries.append((name, value))
            counts[name, default: 0] += 1
            last += 1
        }
    }

    /// Returns whether a name has an unwritten entry.
    func holds(_ name: String) -> Bool { counts[name] != nil }

    /// Returns whether that number of entries is written.
    func isWritten(_ count: Int) -> Bool { written >= count }

    var isWriting: Bool { writer != nil }
    func isWriting(on thread: ThreadIdentity) -> Bool { writer?.thread == thread }

    /// Returns the next value to write, or `nil` if none is queued or another thread is writing. `finish` must follow.
    ///
    /// If a name was set several times, only its last value is returned.
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

    /// Returns whether a notification on this thread is that of its own set, which posts one.
    mutating func consumeNotification(on thread: ThreadIdentity) -> Bool {
        guard let writer, writer.thread == thread, !writer.isNotified else { return false }
        self.writer?.isNotified = true
        return true
    }

    /// Records that the value that `next` returned is written.
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
