#if canImport(Darwin) || STANDINS
/// The three parts of what user defaults show under a name, each of which is a layer, the strongest first.
enum UserDefaultsPart: Int, CaseIterable {
    /// The value that an administrator forces.
    case managed
    /// The value of the domain itself.
    case own
    /// The value that is shown if the domain has none: a registered one, or one of the domain of all programs.
    case weaker
}

/// The parts of user defaults as they were read last, for the names in use.
///
/// The type is pure: it reads nothing. A reader gets a ticket before it reads; if it is still current then, the other parts needn't read
/// the name again.
package struct CachedDefaults {
    private struct Entry {
        /// The values of the parts.
        var values: [PropertyListValue?] = [nil, nil, nil]
        /// The parts that needn't read, as another one just has.
        var isRead: [Bool] = [false, false, false]
        var read: Ticket?
        /// Whether the store itself set or removed the own value and no change since is known.
        var isOwn = false
        /// Whether the last read could tell the domain's own value apart.
        var isOwnKnown = false
        /// The number of possible changes.
        var changes: UInt64 = 0
        /// The number of own values in the queue.
        var queued = 0
    }

    /// The counts of a name's possible changes, and of those of all names.
    struct Ticket: Equatable {
        fileprivate let changes: UInt64
        fileprivate let allChanges: UInt64
    }

    private var entries: [String: Entry] = [:]
    private var allChanges: UInt64 = 0
    /// The approximate size of the own values, in bytes.
    private(set) var size = 0

    var names: [String] { Array(entries.keys) }

    // MARK: Reading

    /// Puts a name into use, and returns the value of a part if that needn't be read.
    mutating func value(_ part: UserDefaultsPart, of name: String) -> PropertyListValue?? {
        guard let entry = entries[name] else {
            entries[name] = Entry()
            return nil
        }
        if part == .own, entry.queued > 0 { return .some(entry.values[part.rawValue]) }
        guard entry.isRead[part.rawValue], entry.read == ticket(of: entry) else { return nil }
        entries[name]?.isRead[part.rawValue] = false
        return .some(entry.values[part.rawValue])
    }

    func ticket(of name: String) -> Ticket { ticket(of: entries[name] ?? Entry()) }

    private func ticket(of entry: Entry) -> Ticket { Ticket(changes: entry.changes, allChanges: allChanges) }

    /// Records what a part has read, and returns its value.
    mutating func record(
        _ found: FoundDefaults,
        of name: String,
        for part: UserDefaultsPart,
        readAt ticket: Ticket
    ) -> PropertyListValue? {
        var entry = entries[name] ?? Entry()
        let before = entry.values
        entry.values[UserDefaultsPart.managed.rawValue] = found.managed
        entry.values[UserDefaultsPart.weaker.rawValue] = found.weaker
        if entry.queued == 0 {
            let own = own(found, in: entry)
            entry.isOwn = entry.isOwn && Self.isSame(own, before[UserDefaultsPart.own.rawValue])
            entry.isOwnKnown = found.isOwnKnown
            entry.values[UserDefaultsPart.own.rawValue] = own
        }
        for part in UserDefaultsPart.allCases {
            // Other code may change the kind of a number; the declared type decides that, so it isn't a change.
            let old = before[part.rawValue]
            if Self.isSame(entry.values[part.rawValue], old) { entry.values[part.rawValue] = old }
            entry.isRead[part.rawValue] = true
        }
        (entry.isRead[part.rawValue], entry.read) = (false, ticket)
        size += Self.size(of: entry.values[1], named: name) - Self.size(of: before[1], named: name)
        entries[name] = entry
        return entry.values[part.rawValue]
    }

    private func own(_ found: FoundDefaults, in entry: Entry) -> PropertyListValue? {
        let last = entry.values[UserDefaultsPart.own.rawValue]
        switch found.own {
        case .known(let own): return own
        case .hidden: return last
        case .unknown:
            // Without another sign, what this store has set and still finds is in the domain.
            return entry.isOwn && Self.isSame(found.weaker, last) ? last : nil
        }
    }

    private static func isSame(_ left: PropertyListValue?, _ right: PropertyListValue?) -> Bool {
        guard let left, let right else { return left == right }
        return left.isSame(as: right)
    }

    /// Notes that a name may have changed; returns false if it isn't in use.
    ///
    /// - Parameter isOwn: Whether that is the store's own set.
    mutating func invalidate(_ name: String, isOwn: Bool) -> Bool {
        guard entries[name] != nil else { return false }
        entries[name]?.changes += 1
        if !isOwn { entries[name]?.isOwn = false }
        return true
    }

    /// Notes that any name may have changed.
    mutating func invalidateAll() { allChanges += 1 }

    // MARK: Setting

    /// Whether the store itself set the name to this value, or the domain has none, so that nothing needs to be written.
    func isStored(_ change: StoredChange) -> Bool {
        // What can't be told apart from the value below might have been removed by other code, or be there.
        guard let entry = entries[change.name], entry.isOwnKnown else { return false }
        return entry.values[UserDefaultsPart.own.rawValue] == change.value && (entry.isOwn || change.value == nil)
    }

    /// Records a value that is queued.
    mutating func set(_ name: String, to value: PropertyListValue?) {
        var entry = entries[name] ?? Entry()
        let before = exchange(&entry.values[UserDefaultsPart.own.rawValue], with: value)
        size += Self.size(of: value, named: name) - Self.size(of: before, named: name)
        entry.isOwn = true
        entry.queued += 1
        entries[name] = entry
    }

    /// Records that a queued value is written.
    mutating func noteWritten(_ name: String) {
        entries[name]?.queued -= 1
        entries[name]?.changes += 1
    }

    /// Returns the size after these changes.
    func size(with changes: [StoredChange]) -> Int {
        changes.reduce(size) { size, change in
            let before = entries[change.name]?.values[UserDefaultsPart.own.rawValue]
            return size + Self.size(of: change.value, named: change.name)
                - Self.size(of: before ?? nil, named: change.name)
        }
    }

    /// Returns the approximate size of a value with its name, in bytes.
    package static func size(of value: PropertyListValue?, named name: String) -> Int {
        value.map { 9 + name.utf8.count + $0.approximateSize } ?? 0
    }
}
#endif
