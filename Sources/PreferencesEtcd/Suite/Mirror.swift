internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The values of a suite at a revision of etcd, together with later writes of this store.
///
/// A write of this store is applied when etcd acknowledges it, before the watch delivers the external changes up to that
/// revision. So each key has its own revision, and older events of the key are ignored.
struct Mirror: Sendable {
    struct Entry: Hashable, Sendable {
        var modRevision: Int64
        /// The value, or `nil` if it can't be decoded.
        var value: PropertyListValue?
        /// Whether the key was modified last at `modRevision`; otherwise, for a value of the cache, at it or before.
        var isExact = true
    }

    let keys: KeySpace
    /// The external changes that the store has yet to publish, in order; nil until it has the values.
    private var collected: [[StoredChange]]?
    private(set) var entries: [Data: Entry] = [:]
    /// The values by name; for one that can't be decoded, the last one that could, so that a typo of an operator doesn't set a fleet to
    /// its defaults. A value of another type can be decoded, and replaces the one before.
    private(set) var values: [String: PropertyListValue] = [:]
    /// The keys whose stored value can't be decoded, or whose name is invalid.
    private var unreadable: Set<Data> = []
    /// The revision up to which the mirror is complete; zero until the suite was read.
    private(set) var revision: Int64 = 0
    /// The number of the cluster that the values are of; `nil` if it is unknown.
    private(set) var cluster: String?
    /// The revision of this store's last write.
    private var ownRevision: Int64 = 0
    /// The suite's mark, and the revision at which it was this one; `nil` if it is unknown.
    private(set) var mark: (keyValue: KeyValue?, revision: Int64)?
    /// The keys that this store wrote or removed after `revision`, with the revisions of these writes.
    private var ahead: [Data: Int64] = [:]
    /// Whether etcd has shown that its history is the one of the values; false after a start from the cache.
    private(set) var isVerified = true
    /// The number of the cluster's histories that have ended. Revisions in an answer are compared with the mirror's only if none has ended
    /// since its request.
    private(set) var histories = 0
    /// The errors that have yet to be reported.
    private var problems: [PreferenceError] = []
    /// The changes that the cache lacks.
    private var uncopied: [String: PropertyListValue?] = [:]

    init(_ keys: KeySpace) { self.keys = keys }

    /// The newest revision that the mirror has any change of.
    var newest: Int64 { max(revision, ownRevision) }

    /// Returns whether a member has changes that the mirror lacks.
    ///
    /// - Parameters:
    ///   - mark: The revision of the suite's mark.
    ///   - count: The number of names, if they were counted.
    ///   - revision: The revision at which these were read.
    func isBehind(mark: Int64, count: Int?, at revision: Int64) -> Bool {
        // An answer that is older than the mirror doesn't show what it lacks.
        guard newest <= revision else { return false }
        return mark > newest || count.map { $0 != entries.count } ?? false
    }

    // MARK: Reading

    /// Resets the known revisions, as the cluster was restored from an older state; call it before `replace`.
    mutating func forgetRevisions() {
        (revision, ownRevision, mark) = (0, 0, nil)
        (ahead, isVerified, cluster) = ([:], true, nil)
        histories += 1
        for key in entries.keys { entries[key]?.modRevision = 0 }
    }

    /// Replaces the contents with those of the whole suite; returns false and changes nothing if the mirror is newer.
    ///
    /// A value with an older revision than the known one replaces it, too: in the history of a restored cluster, it is the newer one.
    mutating func replace(with keyValues: [KeyValue], at revision: Int64, of cluster: String? = nil) -> Bool {
        guard revision >= self.revision else { return false }
        var changes: [String: PropertyListValue?] = [:]
        removeAll(except: Set(keyValues.map(\.key)), at: revision, &changes)
        for keyValue in keyValues where knownRevision(of: keyValue.key) <= revision { put(keyValue, &changes) }
        (self.cluster, isVerified) = (cluster, true)
        finish(changes, at: revision)
        return true
    }

    // MARK: The history

    /// The mirror's knowledge of the cluster's history, without the values.
    struct Place: Sendable {
        /// The newest revision that the mirror has any change of.
        var newest: Int64
        /// The suite's mark, and the revision at which it was this one; `nil` if it is unknown.
        var mark: (keyValue: KeyValue?, revision: Int64)?
        /// The number of the histories that have ended.
        var histories = 0
    }

    /// The place at this time.
    var place: Place { Place(newest: newest, mark: mark, histories: histories) }

    /// The relation of the cluster's history to the one that the mirror is of.
    enum History: Hashable, Sendable {
        case same
        /// The mark was put since, so the history is the same if it had the known mark before: at this revision.
        case sameIfMarked(at: Int64)
        case other
    }

    /// Records that etcd's history is the one of the values.
    mutating func verify() { isVerified = true }

    /// Whether the values are of etcd's history, so that the cache may get them.
    var mayUpdateCopy: Bool { revision > 0 && isVerified }

    /// Records the suite's mark at a revision.
    mutating func note(mark keyValue: KeyValue?, at revision: Int64) {
        if revision >= mark?.revision ?? 0 { mark = (keyValue, revision) }
    }

    /// Merges the keys put since the mirror's revision; returns false and changes nothing if keys were removed too.
    ///
    /// Call it while the backend's `writeLock` is held: then no write of this store is newer than the delta.
    mutating func merge(_ delta: RangeResponse, at revision: Int64) -> Bool {
        guard revision > self.revision else { return true }
        let addedCount = newer(in: delta).count { entries[$0.key] == nil }
        guard entries.count + addedCount == Int(delta.count.value) else { return false }
        merge(delta, keeping: nil, at: revision)
        return true
    }

    /// Merges the keys put since the mirror's revision, and removes the keys that are not `present`, unless that is `nil`.
    mutating func merge(_ delta: RangeResponse, keeping present: Set<Data>?, at revision: Int64) {
        guard revision > self.revision else { return }
        var changes: [String: PropertyListValue?] = [:]
        let newer = newer(in: delta)
        if let present { removeAll(except: present, at: revision, &changes) }
        for keyValue in newer { apply(keyValue, &changes) }
        finish(changes, at: revision)
    }

    private func newer(in delta: RangeResponse) -> [KeyValue] {
        (delta.kvs ?? []).filter { $0.modRevision.value > revision && isNewer($0) }
    }

    /// Applies the events of one revision.
    mutating func apply(_ events: some Collection<WatchEvent>) {
        guard let revision = events.first?.kv.modRevision.value, revision > self.revision else { return }
        var changes: [String: PropertyListValue?] = [:]
        for event in events where isNewer(event.kv) {
            if event.isRemoval { remove(event.kv.key, &changes) } else { apply(event.kv, &changes) }
        }
        finish(changes, at: revision)
    }

    /// Records that all events up to a revision were applied.
    mutating func advance(to revision: Int64) {
        if revision > self.revision { finish([:], at: revision) }
    }

    // MARK: The cache

    /// The place of the values in the history, with which a later start can continue.
    struct Position: Hashable, Sendable {
        /// The name of its entry in the cache, which is the library's own.
        static let entryName = "preferences.etcd"
        /// The revision up to which the values are complete.
        var revision: Int64
        /// The names that this store wrote or removed after it, with the revisions of these writes.
        var ahead: [String: Int64] = [:]
        /// Whether the mark was known, and the revision at which it was `mark`.
        var markRevision: Int64?
        var mark: KeyValue?
    }

    /// The position of the values; `nil` if the suite was not read yet, or has what the cache lacks: values that can't be decoded, or one
    /// with the name of the position's entry.
    ///
    /// A start with a position would take the value before for the stored one, and a write of it would change nothing.
    var position: Position? {
        guard revision > 0, unreadable.isEmpty, values[Position.entryName] == nil else { return nil }
        var position = Position(revision: revision, markRevision: mark?.revision, mark: mark?.keyValue)
        for (key, revision) in ahead { position.ahead[keys.name(of: key) ?? ""] = revision }
        return position
    }

    /// Sets the values of the cache, before anything could be read from etcd.
    mutating func begin(
        withCopy values: [String: PropertyListValue],
        at position: Position? = nil,
        of cluster: String? = nil
    ) {
        self.values = values
        self.cluster = cluster
        revision = position?.revision ?? 0
        for (name, value) in values {
            entries[keys.key(of: name)] = Entry(modRevision: revision, value: value, isExact: position == nil)
        }
        guard let position else { return }
        for (name, revision) in position.ahead {
            let key = keys.key(of: name)
            ahead[key] = revision
            if let value = values[name] { entries[key] = Entry(modRevision: revision, value: value) }
            ownRevision = max(ownRevision, revision)
        }
        mark = position.markRevision.map { (position.mark, $0) }
        isVerified = false
    }

    // MARK: Writing

    /// Returns the changes of a write to what isn't stored already; a value that can't be decoded is replaced or removed by any write.
    func missing(_ changes: [String: PropertyListValue?]) -> [String: PropertyListValue?] {
        changes.filter { name, value in
            values[name] != value || entries[keys.key(of: name)].map { $0.value == nil } ?? false
        }
    }

    /// Applies changes that this store wrote at a revision.
    ///
    /// - Parameter revision: `nil` for one of a history that has ended. The next read of the suite shows whether they are in the new one.
    mutating func commit(_ changes: [String: PropertyListValue?], at revision: Int64?) {
        if let revision, revision <= self.revision { return }
        var unused: [String: PropertyListValue?] = [:]
        for (name, value) in changes {
            let key = keys.key(of: name)
            if let revision, knownRevision(of: key) >= revision { continue }
            set(value, for: name, &unused)
            entries[key] = value.map { Entry(modRevision: revision ?? 0, value: $0) }
            unreadable.remove(key)
            ahead[key] = revision
        }
        ownRevision = max(ownRevision, revision ?? 0)
    }

    // MARK: Notifying

    /// Begins to collect changes, for a store that has the values.
    mutating func collect() { collected = [] }

    /// Removes and returns the external changes that the store has yet to publish.
    mutating func drainChanges() -> ExternalChanges {
        guard let changes = collected, !changes.isEmpty else { return .none }
        collected = []
        return .changes(changes)
    }

    /// Whether there are external changes that the store has yet to publish.
    var hasChanges: Bool { collected?.isEmpty == false }

    /// Removes and returns the changes that the cache lacks; all values if it has none of the store's.
    mutating func drainUncopied(isFirst: Bool) -> [String: PropertyListValue?] {
        defer { uncopied = [:] }
        return isFirst ? values.mapValues { $0 } : uncopied
    }

    /// Puts back changes that could not be written to the cache; newer changes of a name win.
    mutating func restoreUncopied(_ changes: [String: PropertyListValue?]) {
        uncopied.merge(changes) { newer, _ in newer }
    }

    mutating func note(_ problem: PreferenceError) { problems.append(problem) }

    /// Removes and returns the errors that have yet to be reported.
    mutating func drainProblems() -> [PreferenceError] {
        defer { problems = [] }
        return problems
    }

    // MARK: Entries

    private mutating func finish(_ changes: [String: PropertyListValue?], at revision: Int64) {
        self.revision = revision
        if !ahead.isEmpty { ahead = ahead.filter { $0.value > revision } }
        if !changes.isEmpty { collected?.append(changes.map { StoredChange($0.key, $0.value) }) }
    }

    /// Returns the revision of the last known change of a key, or zero.
    private func knownRevision(of key: Data) -> Int64 { entries[key]?.modRevision ?? ahead[key] ?? 0 }

    private func isNewer(_ keyValue: KeyValue) -> Bool { keyValue.modRevision.value > knownRevision(of: keyValue.key) }

    /// Applies a key and its value unless a newer change of the key is known.
    private mutating func apply(_ keyValue: KeyValue, _ changes: inout [String: PropertyListValue?]) {
        if isNewer(keyValue) { put(keyValue, &changes) }
    }

    private mutating func put(_ keyValue: KeyValue, _ changes: inout [String: PropertyListValue?]) {
        let name = keys.name(of: keyValue.key)
        let value = name == nil ? nil : Self.value(of: keyValue)
        let entry = Entry(modRevision: keyValue.modRevision.value, value: value)
        if entries[keyValue.key] == entry { return }
        unreadable.remove(keyValue.key)
        if value == nil {
            unreadable.insert(keyValue.key)
            reportUnreadable(keyValue.key)
        }
        entries[keyValue.key] = entry
        ahead[keyValue.key] = nil
        if let name, let value { set(value, for: name, &changes) }
    }

    /// Removes the keys that were absent at a revision, except for those that this store put later.
    private mutating func removeAll(
        except present: Set<Data>,
        at revision: Int64,
        _ changes: inout [String: PropertyListValue?]
    ) {
        for (key, entry) in entries where entry.modRevision <= revision && !present.contains(key) {
            remove(key, &changes)
        }
    }

    private mutating func remove(_ key: Data, _ changes: inout [String: PropertyListValue?]) {
        entries[key] = nil
        unreadable.remove(key)
        if let name = keys.name(of: key) { set(nil, for: name, &changes) }
    }

    private mutating func set(
        _ value: PropertyListValue?,
        for name: String,
        _ changes: inout [String: PropertyListValue?]
    ) {
        guard values[name] != value else { return }
        values[name] = value
        changes.updateValue(value, forKey: name)
        uncopied.updateValue(value, forKey: name)
    }

    /// Returns the value of a key, or `nil` if it can't be decoded.
    static func value(of keyValue: KeyValue) -> PropertyListValue? {
        // Decoding that repairs invalid UTF-8 would give another value.
        guard let text = String(validating: keyValue.value ?? Data(), as: UTF8.self) else { return nil }
        do throws(PreferenceError) {
            return try PropertyListValue(json: text)
        } catch {
            return nil
        }
    }

    private mutating func reportUnreadable(_ key: Data) {
        let problem =
            keys.name(of: key) == nil
            ? "an invalid name; it is skipped and kept"
            : "an invalid value, which is kept; programs that run continue with the value before, and one that starts without a cache "
                + "reads its default"
        let text = "the etcd key \"\(String(decoding: key, as: UTF8.self))\" has \(problem). Correct it or delete it"
        problems.append(PreferenceError(.damaged, text))
    }
}

extension Mirror.Place {
    /// Returns which history a cluster has whose mark is `current` at a revision.
    func history(of current: KeyValue?, at revision: Int64) -> Mirror.History {
        // An answer of the same history is never older than what was known before the request.
        if revision < newest { return .other }
        guard let mark else { return .same }
        if revision < mark.revision { return .other }
        if current == mark.keyValue { return .same }
        return (current?.modRevision.value ?? 0) > mark.revision ? .sameIfMarked(at: mark.revision) : .other
    }
}
