/// What the body of a transaction reads and writes: a snapshot of the store, and what is to be stored together.
///
/// Reads see the snapshot and the transaction's own writes. What can't be thrown from a subscript (an unreadable value
/// that was read, a refused validation or encoding, a preference of another store) is thrown at the end; then nothing
/// is stored.
public struct PreferenceTransaction {
    private let core: StoreCore
    private var snapshot: StoreSnapshot
    private(set) var changes: [String: PropertyListValue?] = [:]
    /// What was read, and must still be so when the changes are stored.
    private(set) var reads = TransactionReads()
    /// The first thing that went wrong.
    private(set) var failure: PreferencesError?

    /// Why nothing can be read, if so.
    private var unread: PreferencesError?

    init(on core: StoreCore, _ snapshot: StoreSnapshot, unread: PreferencesError?) {
        self.core = core
        self.snapshot = snapshot
        self.unread = unread
    }

    /// A preference's value; its default where nothing is stored.
    public subscript<Value>(preference: Preference<Value>) -> Value {
        mutating get {
            guard isOwn(preference) else { return preference.defaultValue }
            do throws(PreferencesError) {
                let candidates = candidates(for: preference.name)
                return try preference.declaration.readStrictly(candidates) ?? preference.defaultValue
            } catch {
                fail(error)
                return preference.defaultValue
            }
        }
        set {
            guard isOwn(preference) else { return }
            do throws(PreferencesError) {
                changes.updateValue(
                    try preference.declaration.encode(newValue, over: candidates(for: preference.name)),
                    forKey: preference.name
                )
            } catch {
                fail(error)
            }
        }
    }

    /// What is stored under a name; nil where nothing is. Setting nil removes.
    public subscript(name: String) -> PropertyListValue? {
        mutating get { candidates(for: name).first?.value }
        set {
            guard !name.isEmpty else {
                fail(PreferencesError(.invalidName, "a preference needs a name that is not empty"))
                return
            }
            changes.updateValue(newValue, forKey: name)
        }
    }

    /// Removes what is stored for a preference, so that its default answers; a member of a value is set to the
    /// default's.
    public mutating func reset<Value>(_ preference: Preference<Value>) {
        guard preference.declaration.member == nil else { return self[preference] = preference.defaultValue }
        guard isOwn(preference) else { return }
        changes.updateValue(nil, forKey: preference.name)
    }

    /// All names that have a value, sorted.
    public var names: [String] {
        mutating get { contents.keys.sorted() }
    }

    /// Everything stored, by name.
    public var contents: [String: PropertyListValue] {
        mutating get {
            if let unread { fail(unread) }
            reads.noteAll(snapshot)
            var contents = snapshot.contents
            for (name, value) in changes { contents[name] = value }
            return contents
        }
    }

    private mutating func candidates(for name: String) -> StoredCandidates {
        if let own = changes[name] { return StoredCandidates(own) }
        if let unread { fail(unread) }
        // Once, so that the body sees one value of it.
        if !reads.isNoted(name), core.needsQuery(name) {
            snapshot.take(name, from: core.read(CollectionOfOne(name)) { StoreSnapshot(of: $0) })
        }
        let candidates = snapshot.candidates(for: name)
        reads.note(name, candidates)
        return candidates
    }

    private mutating func isOwn<Value>(_ preference: Preference<Value>) -> Bool {
        guard preference.store.resolved.core !== core else { return true }
        fail(
            PreferencesError(
                .wrongStore,
                name: preference.name,
                "the preference belongs to another store than the transaction; "
                    + "use bound(to:) or a transaction of its store"
            )
        )
        return false
    }

    /// Whether the value of a name is a secret.
    func isSecret(_ name: String) -> Bool { core.isSecret(name) }

    private mutating func fail(_ error: PreferencesError) {
        if failure == nil { failure = error }
    }
}

extension PreferenceTransaction: CustomReflectable {
    /// A mirror without children, which would have the values of secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
