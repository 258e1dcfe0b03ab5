@_spi(Tool) internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The names of a suite as etcd held them at one revision with the store's own later writes, and what of that the store has
/// yet to be notified of.
///
/// A write of the store's own is known as soon as it is answered, before the watch tells what others did up to it. So each
/// key has a revision of its own, and anything older about the key changes nothing.
struct Mirror: Sendable {
    struct Entry: Hashable, Sendable {
        var modRevision: Int64
        /// Nil if it can't be read.
        var value: PropertyListValue?
    }

    struct Batch: Hashable, Sendable {
        var revision: Int64
        var changes: [String: PropertyListValue?]
    }

    let keys: KeySpace
    private(set) var entries: [Data: Entry] = [:]
    private(set) var values: [String: PropertyListValue] = [:]
    /// The revision up to which everything is known; zero until all was read.
    private(set) var revision: Int64 = 0
    /// The revision of the store's own last write.
    private var ownRevision: Int64 = 0
    /// The keys that the store itself removed after `revision`, with the revisions of that.
    private var tombstones: [Data: Int64] = [:]
    /// Changes that the store hasn't been notified of, oldest first.
    private(set) var pending: [Batch] = []
    /// What can't be read, to be reported.
    private var problems: [PreferencesError] = []
    /// Changes that the copy in a file lacks.
    private var uncopied: [String: PropertyListValue?] = [:]

    init(_ keys: KeySpace) { self.keys = keys }

    /// The newest revision of which anything is known.
    var newest: Int64 { max(revision, ownRevision) }

    /// Whether a member has what the mirror doesn't know of.
    ///
    /// - Parameters:
    ///   - mark: The revision of the suite's mark.
    ///   - count: How many names there are, if they were counted.
    ///   - revision: The revision at which that was read.
    func isBehind(mark: Int64, count: Int?, at revision: Int64) -> Bool {
        // What was read before the mirror's last change says nothing about now.
        guard newest <= revision else { return false }
        return mark > newest || count.map { $0 != entries.count } ?? false
    }

    // MARK: What is read

    /// Forgets which revisions are known, as the cluster was restored from an older state; to be called before `replace`.
    mutating func forgetRevisions() {
        (revision, ownRevision) = (0, 0)
        tombstones = [:]
        for key in entries.keys { entries[key]?.modRevision = 0 }
    }

    /// Takes everything as it was read whole; returns false if the mirror knows something newer.
    mutating func replace(with keyValues: [KeyValue], at revision: Int64) -> Bool {
        guard revision >= self.revision else { return false }
        var changes: [String: PropertyListValue?] = [:]
        removeAll(except: Set(keyValues.map(\.key)), at: revision, &changes)
        for keyValue in keyValues { take(keyValue, &changes) }
        finish(changes, at: revision)
        return true
    }

    /// Takes what was put since the mirror's revision; returns false and takes nothing if keys were removed, too.
    ///
    /// To be called by whoever writes, so that no write of the store's own is newer than the delta.
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
        if let present { removeAll(except: present, at: revision, &changes) }
        for keyValue in news { take(keyValue, &changes) }
        finish(changes, at: revision)
    }

    private func news(of delta: RangeResponse) -> [KeyValue] {
        (delta.kvs ?? []).filter { $0.modRevision.value > revision && isNews($0) }
    }

    /// Takes what a watch tells of one revision.
    mutating func take(_ events: some Collection<WatchEvent>) {
        guard let revision = events.first?.kv.modRevision.value, revision > self.revision else { return }
        var changes: [String: PropertyListValue?] = [:]
        for event in events where isNews(event.kv) {
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

    /// Takes changes of the store's own that were stored at a revision; returns those of others that are known to be older.
    ///
    /// What came after them stays pending.
    mutating func commit(_ changes: [String: PropertyListValue?], at revision: Int64) -> [String: PropertyListValue?] {
        var unused: [String: PropertyListValue?] = [:]
        if revision > self.revision {
            for (name, value) in changes {
                let key = keys.key(of: name)
                guard knownRevision(of: key) < revision else { continue }
                set(value, for: name, &unused)
                entries[key] = value.map { Entry(modRevision: revision, value: $0) }
                tombstones[key] = value == nil ? revision : nil
            }
            ownRevision = max(ownRevision, revision)
        }
        let before = pending.prefix { $0.revision < revision }
        let own = pending.dropFirst(before.count).prefix { $0.revision == revision }
        let after = pending.dropFirst(before.count + own.count)
        pending = Array(after)
        // All was read at the very revision: then others' changes lie in the same batch.
        var others = before.reduce(into: [:]) { $0.merge($1.changes) { $1 } }
        for batch in own { others.merge(batch.changes.filter { changes[$0.key] == nil }) { $1 } }
        return others
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
        if !tombstones.isEmpty { tombstones = tombstones.filter { $0.value > revision } }
        if !changes.isEmpty { pending.append(Batch(revision: revision, changes: changes)) }
    }

    /// The revision of what is known of a key; zero if nothing is.
    private func knownRevision(of key: Data) -> Int64 { entries[key]?.modRevision ?? tombstones[key] ?? 0 }

    private func isNews(_ keyValue: KeyValue) -> Bool { keyValue.modRevision.value > knownRevision(of: keyValue.key) }

    /// Takes a key and its value unless something newer is known of the key.
    private mutating func take(_ keyValue: KeyValue, _ changes: inout [String: PropertyListValue?]) {
        guard isNews(keyValue) else { return }
        let name = keys.name(of: keyValue.key)
        let value = name == nil ? nil : read(keyValue)
        if value == nil { reportUnreadable(keyValue.key) }
        entries[keyValue.key] = Entry(modRevision: keyValue.modRevision.value, value: value)
        tombstones[keyValue.key] = nil
        if let name { set(value, for: name, &changes) }
    }

    /// Removes what was no key at a revision, but for what the store itself put later.
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
