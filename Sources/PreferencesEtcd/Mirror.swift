@_spi(Tool) internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The keys of a suite as they were at one revision, and what of that the store has yet to be told.
///
/// What is older than the revision is known already and changes nothing, so answers and the watch may tell the same twice.
struct Mirror: Sendable {
    struct Entry: Hashable, Sendable {
        var modRevision: Int64
        /// Nil where it can't be read.
        var value: PropertyListValue?
    }

    struct Batch: Hashable, Sendable {
        var revision: Int64
        var changes: [String: PropertyListValue?]
    }

    let keys: KeySpace
    private(set) var entries: [Data: Entry] = [:]
    private(set) var values: [String: PropertyListValue] = [:]
    /// Zero until all was read.
    private(set) var revision: Int64 = 0
    /// What the store hasn't been told, oldest first.
    private(set) var pending: [Batch] = []
    /// What can't be read, to be reported.
    private var problems: [PreferencesError] = []
    /// What the copy in a file hasn't been told.
    private var uncopied: [String: PropertyListValue?] = [:]

    init(_ keys: KeySpace) { self.keys = keys }

    func modRevision(of name: String) -> Int64 { entries[keys.key(of: name)]?.modRevision ?? 0 }

    /// Whether a member has what the mirror doesn't know of.
    func isBehind(_ newest: RangeResponse) -> Bool {
        (newest.kvs?.first?.modRevision.value ?? 0) > revision || Int(newest.count.value) != entries.count
    }

    // MARK: What is read

    /// Takes everything as it was read whole; false where the mirror knows something newer.
    mutating func replace(with keyValues: [KeyValue], at revision: Int64) -> Bool {
        guard revision >= self.revision else { return false }
        var changes: [String: PropertyListValue?] = [:]
        let present = Set(keyValues.map(\.key))
        for key in entries.keys where !present.contains(key) { remove(key, &changes) }
        for keyValue in keyValues { take(keyValue, &changes) }
        finish(changes, at: revision)
        return true
    }

    /// Takes what was put since the mirror's revision; false, and nothing is taken, where keys were removed, too.
    mutating func take(_ delta: RangeResponse, at revision: Int64) -> Bool {
        guard revision > self.revision else { return true }
        let addedCount = news(of: delta).count { entries[$0.key] == nil }
        guard entries.count + addedCount == Int(delta.count.value) else { return false }
        take(delta, keeping: nil, at: revision)
        return true
    }

    /// Takes what was put since the mirror's revision, and removes what was no key any more.
    mutating func take(_ delta: RangeResponse, keeping present: Set<Data>?, at revision: Int64) {
        guard revision > self.revision else { return }
        var changes: [String: PropertyListValue?] = [:]
        let news = news(of: delta)
        if let present {
            for key in entries.keys where !present.contains(key) { remove(key, &changes) }
        }
        for keyValue in news { take(keyValue, &changes) }
        finish(changes, at: revision)
    }

    private func news(of delta: RangeResponse) -> [KeyValue] {
        (delta.kvs ?? []).filter { $0.modRevision.value > revision }
    }

    /// Takes what a watch tells of one revision.
    mutating func take(_ events: some Collection<WatchEvent>) {
        guard let revision = events.first?.kv.modRevision.value, revision > self.revision else { return }
        var changes: [String: PropertyListValue?] = [:]
        for event in events {
            if event.isRemoval { remove(event.kv.key, &changes) } else { take(event.kv, &changes) }
        }
        finish(changes, at: revision)
    }

    /// Takes what a file knew before anything could be read from etcd.
    mutating func begin(withCopy values: [String: PropertyListValue]) {
        self.values = values
        for (name, value) in values { entries[keys.key(of: name)] = Entry(modRevision: 0, value: value) }
    }

    // MARK: What is written

    /// Takes changes of the store's own that were stored at a revision; gives what others had changed before.
    ///
    /// What came after them stays to be told.
    mutating func commit(_ changes: [String: PropertyListValue?], at revision: Int64) -> [String: PropertyListValue?] {
        var unused: [String: PropertyListValue?] = [:]
        if revision > self.revision {
            for (name, value) in changes where values[name] != value {
                let key = keys.key(of: name)
                set(value, for: name, &unused)
                entries[key] = value.map { Entry(modRevision: revision, value: $0) }
            }
            self.revision = revision
        }
        let before = pending.prefix { $0.revision < revision }
        let own = pending.dropFirst(before.count).prefix { $0.revision == revision }
        let after = pending.dropFirst(before.count + own.count)
        pending = Array(after)
        // Where it is not known at which of several revisions they were stored, others' may lie in the same batch.
        var others = before.reduce(into: [:]) { $0.merge($1.changes) { $1 } }
        for batch in own { others.merge(batch.changes.filter { changes[$0.key] == nil }) { $1 } }
        return others
    }

    /// Notes the mark that was written with a commit, which the store knows nothing of.
    mutating func noteMark(at revision: Int64) {
        guard revision >= self.revision else { return }
        entries[keys.mark] = Entry(modRevision: revision)
    }

    // MARK: What the store is told

    /// Makes the store be told what these names hold.
    mutating func tell(_ names: some Collection<String>) {
        var changes: [String: PropertyListValue?] = [:]
        for name in names { changes.updateValue(values[name], forKey: name) }
        finish(changes, at: revision)
    }

    /// Puts back what a commit gave that nobody could be told.
    mutating func tellFirst(_ changes: [String: PropertyListValue?]) {
        if !changes.isEmpty { pending.insert(Batch(revision: 0, changes: changes), at: 0) }
    }

    /// All that the store hasn't been told.
    mutating func drain() -> [String: PropertyListValue?] {
        defer { pending = [] }
        return pending.reduce(into: [:]) { $0.merge($1.changes) { $1 } }
    }

    mutating func takeUncopied() -> [String: PropertyListValue?] {
        defer { uncopied = [:] }
        return uncopied
    }

    /// Puts back what the copy could not be told; what is newer stays.
    mutating func putBack(uncopied changes: [String: PropertyListValue?]) {
        uncopied.merge(changes) { newer, _ in newer }
    }

    mutating func note(_ problem: PreferencesError) { problems.append(problem) }

    mutating func takeProblems() -> [PreferencesError] {
        defer { problems = [] }
        return problems
    }

    // MARK: Entries

    private mutating func finish(_ changes: [String: PropertyListValue?], at revision: Int64) {
        self.revision = revision
        if !changes.isEmpty { pending.append(Batch(revision: revision, changes: changes)) }
    }

    private mutating func take(_ keyValue: KeyValue, _ changes: inout [String: PropertyListValue?]) {
        let name = keys.name(of: keyValue.key)
        var value: PropertyListValue?
        if name != nil || keyValue.key != keys.mark {
            value = name == nil ? nil : read(keyValue)
            if value == nil { reportUnreadable(keyValue.key) }
        }
        entries[keyValue.key] = Entry(modRevision: keyValue.modRevision.value, value: value)
        if let name { set(value, for: name, &changes) }
    }

    private mutating func remove(_ key: Data, _ changes: inout [String: PropertyListValue?]) {
        entries[key] = nil
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

    private func read(_ keyValue: KeyValue) -> PropertyListValue? {
        // Repaired text would be another value.
        guard let text = String(validating: keyValue.value ?? Data(), as: UTF8.self) else { return nil }
        do throws(PreferencesError) {
            return try PreferenceText.value(in: text)
        } catch {
            return nil
        }
    }

    private mutating func reportUnreadable(_ key: Data) {
        problems.append(
            PreferencesError(
                .damaged,
                "the key \"\(String(decoding: key, as: UTF8.self))\" of etcd holds no stored value, or none that a name "
                    + "has; it is skipped and kept. Correct it or delete it"
            )
        )
    }
}
