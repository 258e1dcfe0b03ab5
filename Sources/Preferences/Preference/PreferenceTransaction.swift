/// A snapshot of the store and the changes to store together, as the body of a transaction reads and writes them.
///
/// Reads see the snapshot and the transaction's own writes. A subscript can't throw: the first error (an unreadable value,
/// a value that breaks its rule or can't be encoded, a preference of another store) is thrown when the body returns, and then nothing
/// is stored.
public struct PreferenceTransaction {
    private let core: StoreCore
    /// The body that uses the transaction.
    private let running: RunningBody
    private var snapshot: StoreSnapshot
    private(set) var changes: [String: PropertyListValue?] = [:]
    /// The values that were read and must be unchanged when the changes are stored.
    private(set) var reads = TransactionReads()
    /// The first error.
    private var firstFailure: PreferenceError?
    /// The first error of a read whose value is locked.
    private var lockedRead: PreferenceError?

    /// The error because of which nothing is stored, if there is one.
    ///
    /// A value that was locked fails a transaction that only reads. With changes the backend reads it again, and fails if it still is.
    var failure: PreferenceError? { firstFailure ?? (changes.isEmpty ? lockedRead : nil) }

    /// The reason why nothing can be read, if there is one.
    private var unread: PreferenceError?

    init(on core: StoreCore, _ snapshot: StoreSnapshot, unread: PreferenceError?, in running: RunningBody) {
        self.core = core
        self.running = running
        self.snapshot = snapshot
        self.unread = unread
    }

    /// The preference's value, or its default if nothing is stored.
    public subscript<Value>(preference: Preference<Value>) -> Value {
        mutating get {
            guard isOwn(preference) else { return preference.defaultValue }
            do throws(PreferenceError) {
                let candidates = candidates(of: preference)
                return try preference.declaration.readStrictly(candidates) ?? preference.defaultValue
            } catch {
                fail(error)
                return preference.defaultValue
            }
        }
        set {
            guard isOwn(preference) else { return }
            do throws(PreferenceError) {
                try store(
                    preference.declaration.encode(newValue, over: candidates(of: preference)),
                    as: preference.name
                )
                preference.declaration.noteStrongerValue(in: core)
            } catch {
                fail(error)
            }
        }
    }

    /// The value stored under a name, or `nil` if nothing is stored. Setting `nil` removes the value.
    public subscript(name: String) -> PropertyListValue? {
        mutating get {
            note(name)
            checkUnlocked([name])
            return snapshot.candidates(for: name, after: changes).first?.value
        }
        set {
            guard !name.isEmpty else {
                fail(PreferenceError(.invalidName, "a preference needs a name that is not empty"))
                return
            }
            changes.updateValue(newValue, forKey: name)
        }
    }

    /// Returns the value that the store itself has under a name, whatever the other layers have.
    package mutating func ownValue(of name: String) -> PropertyListValue? {
        note(name)
        checkUnlocked([name])
        return changes[name] ?? snapshot.ownValue(of: name)
    }

    /// Returns the value that the store itself has under a preference's name, else under a former name of it.
    package mutating func ownValue(ofPreference name: String) -> PropertyListValue? {
        for name in [name] + core.formerNames(of: name) {
            if let value = ownValue(of: name) { return value }
        }
        return nil
    }

    /// Returns whether the store itself has a value under a preference's name or a former name of it.
    package mutating func isSet(_ name: String) -> Bool { ownValue(ofPreference: name) != nil }

    /// The values that the store itself has, by name.
    var ownContents: [String: PropertyListValue] {
        mutating get {
            noteReadOfAll()
            var contents = snapshot.ownValues
            for (name, value) in changes { contents[name] = value }
            return contents
        }
    }

    /// The values that the store itself has under the changed names, before and after the changes.
    var ownChanges: OwnChanges {
        OwnChanges(
            old: Dictionary(uniqueKeysWithValues: changes.keys.map { ($0, snapshot.ownValue(of: $0)) }),
            new: changes
        )
    }

    /// Whether the store lists only names that it was asked for.
    var isQueriedByName: Bool { core.newest.layers.writable?.isQueriedByName ?? false }

    /// The names that were read or written.
    var usedNames: Set<String> { reads.names.union(changes.keys) }

    /// Returns the first value that the store itself has under the preference's name or a former one and that can be decoded, without
    /// applying the rules, and the candidates among which it was found; `nil` if there is none, or a `nil` that was set before it.
    mutating func ownValue<Value>(of preference: Preference<Value>) -> (value: Value, among: StoredCandidates)? {
        guard isOwn(preference) else { return nil }
        let own = candidates(of: preference).filter { $0.layer == nil }
        let (value, problems) = preference.declaration.readOwn(own)
        for problem in problems { core.report(problem, of: preference.name) }
        return value.map { ($0, own) }
    }

    /// Stores a value in place of the preference's own one; `nil` removes one that can be decoded.
    mutating func setOwnValue<Value>(of preference: Preference<Value>, to value: Value?) {
        guard isOwn(preference) else { return }
        guard let value else {
            // Swift sets `nil` again after `values[preference]?` has read it: what couldn't be decoded has to stay.
            if ownValue(of: preference) != nil { reset(preference) }
            return
        }
        do throws(PreferenceError) {
            let own = candidates(of: preference).filter { $0.layer == nil }
            try store(preference.declaration.encode(value, over: own), as: preference.name)
            preference.declaration.noteStrongerValue(in: core)
        } catch {
            fail(error)
        }
    }

    /// Removes the preference's stored value, so that the default applies; a member of a composite value is set to its
    /// default.
    public mutating func reset<Value>(_ preference: Preference<Value>) {
        guard preference.declaration.member == nil else { return self[preference] = preference.defaultValue }
        guard isOwn(preference) else { return }
        store(nil, as: preference.name)
    }

    /// The names of all stored values, sorted.
    public var names: [String] {
        mutating get { contents.keys.sortedByBytes }
    }

    /// All stored values, by name.
    public var contents: [String: PropertyListValue] {
        mutating get {
            noteReadOfAll()
            return snapshot.contents(after: changes)
        }
    }

    private mutating func noteReadOfAll() {
        if let unread { fail(unread) }
        do throws(PreferenceError) { try running.noteReadOfAll() } catch { fail(error) }
        if lockedRead == nil { lockedRead = snapshot.failureOfOwnValues.map { PreferenceError(unread: $0) } }
        reads.noteAll(snapshot)
    }

    /// Returns the values of a preference that would be read if the transaction ended here.
    private mutating func candidates<Value>(of preference: Preference<Value>) -> StoredCandidates {
        let (name, names) = (preference.name, core.formerNames(of: preference.name))
        note(name)
        for name in names { note(name) }
        checkUnlocked([name] + names)
        return snapshot.candidates(for: name, formerly: names, after: changes)
    }

    /// Records that a name was read, unless the transaction itself stored its value before.
    private mutating func note(_ name: String) {
        if case .some(.some) = changes[name] { return }
        if let unread { fail(unread) }
        do throws(PreferenceError) { try running.noteRead(name) } catch { fail(error) }
        // Read once, so that the body sees a single value for the name.
        if !reads.isNoted(name), core.needsQuery(name) {
            snapshot.merge(name, from: core.newest.read(CollectionOfOne(name)) { StoreSnapshot(of: $0) })
        }
        reads.note(name, snapshot.candidates(for: name))
    }

    /// Records it if the value that is read, that of the first of these names that has one, is locked: it isn't absent.
    private mutating func checkUnlocked(_ names: [String]) {
        guard lockedRead == nil else { return }
        lockedRead = snapshot.failure(ofOwn: names, after: changes).map { PreferenceError(unread: $0) }
    }

    /// Stores a value under a preference's name alone, or removes the value.
    package mutating func store(_ value: PropertyListValue?, as name: String) {
        core.changes(of: name, to: value).forEach { changes.updateValue($1, forKey: $0) }
    }

    private mutating func isOwn<Value>(_ preference: Preference<Value>) -> Bool {
        guard preference.store.resolved.core !== core else { return true }
        fail(
            PreferenceError(
                .wrongStore,
                name: preference.name,
                "the preference belongs to another store than the transaction; "
                    + "use bound(to:) or a transaction of its store"
            )
        )
        return false
    }

    /// Returns whether the value of a name is a secret.
    func isSecret(_ name: String) -> Bool { core.isSecret(name) }

    private mutating func fail(_ error: PreferenceError) {
        if firstFailure == nil { firstFailure = error }
    }
}

/// The changes that one transaction or several make to a store's own values.
struct OwnChanges {
    private(set) var old: [String: PropertyListValue?] = [:]
    private(set) var new: [String: PropertyListValue?] = [:]

    /// Adds the changes of the next transaction.
    mutating func append(_ next: OwnChanges) {
        old.merge(next.old) { first, _ in first }
        new.merge(next.new) { _, last in last }
    }
}

extension PreferenceTransaction: CustomReflectable {
    /// A mirror without children, which would have the values of secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
