/// One named, typed setting with a default, kept in a store.
///
/// It is a property wrapper, the wrapper's projected value, and a plain value that fits a protocol requirement:
///
///     struct GeneralPreferences: PreferenceGroup {
///         @Preference("AutomaticallyUpdate") var automaticallyUpdate = true
///         let selected = Preference("selected", default: DashboardItem.templates)
///     }
///
/// A preference is a light handle: copies, and other declarations of the same name, show the same value. All of it may
/// be used on any thread. Declaring reads nothing. Reading never writes.
///
/// A secret is declared in a store that encrypts it, such as `.keyring` of the product `PreferencesKeyring`. A preference with
/// `isSecret: true` is one in any store: `<redacted>` stands for its value and its default in descriptions, errors, issues,
/// changes and mirrors, and a schema has neither. What `value` and the store's subscript return is the value.
@propertyWrapper
public struct Preference<Value: Sendable>: Sendable {
    @usableFromInline let declaration: PreferenceDeclaration<Value>

    init(
        declaring name: String,
        _ rule: PreferenceRule<Value>,
        in store: PreferenceStore?,
        coding: PreferenceCoding<Value>,
        description: String?,
        isSecret: Bool,
        default makeDefault: @escaping @Sendable () -> Value
    ) {
        precondition(!name.isEmpty, "A preference needs a name that is not empty.")
        declaration = PreferenceDeclaration(
            name: name,
            in: store ?? GroupBinding.store,
            coding: coding,
            condition: rule.condition,
            description: description,
            isSecret: isSecret,
            default: makeDefault
        )
        if store == nil { GroupBinding.note(declaration, name: name) }
    }

    init(_ declaration: PreferenceDeclaration<Value>) {
        self.declaration = declaration
    }

    /// The preference's value: what is stored, else the default.
    ///
    /// Reading registers with Observation. An unreadable or invalid stored value gives the default and is reported once
    /// to the store's issue handler; it stays stored. Setting nil removes. A set that is refused is reported and
    /// changes nothing: `write` throws instead. `list.append(x)` and `n += 1` are a read and a write, not one step:
    /// `update` is.
    @inlinable
    public var value: Value {
        get { declaration.value }
        nonmutating set { set(newValue) }
    }

    /// The value, as a wrapped property shows it.
    @inlinable
    public var wrappedValue: Value {
        get { declaration.value }
        nonmutating set { set(newValue) }
    }

    /// The preference itself, as `$name`.
    @inlinable
    public var projectedValue: Self { self }

    /// The name under which the value is stored.
    public var name: String { declaration.name }

    /// The default, made anew at each call.
    public var defaultValue: Value { declaration.makeDefault() }

    /// The purpose of the preference, as its declaration's `description:` states it.
    public var declaredDescription: String? { declaration.description }

    /// Whether the value is a secret, which descriptions, errors and reports don't show: by its own declaration, by another one
    /// of the name, or as every value of the store is, such as the system's keyring.
    public var isSecret: Bool { declaration.isDeclaredSecret || store.isSecret(name) }

    /// The store in which the preference was declared.
    public var store: PreferenceStore { declaration.store }

    @usableFromInline
    func set(_ value: Value) {
        do throws(PreferencesError) {
            try write(value)
        } catch {
            declaration.store.resolved.report(error.named(name))
        }
    }
}

extension Preference {
    /// Whether a value is stored in the store itself, readable or not; for a layered store, in its writable layer.
    public var isSet: Bool {
        let declaration = declaration.resolved
        return declaration.store.core.ownValue(of: declaration.name) != nil
    }

    /// What is stored, also when it can't be decoded; nil where nothing is.
    public var storedValue: PropertyListValue? {
        declaration.store[declaration.name]
    }

    /// Where the value comes from just now.
    public var source: PreferenceSource {
        let declaration = declaration.resolved
        return declaration.store.source(of: declaration.name) { declaration.canRead($0) }
    }

    /// Whether an administrator decides about the value, whatever answers now; setting it then fails.
    ///
    /// Also true for each name of a suite whose managed file exists and could not be read since the program began.
    public var isManaged: Bool {
        let declaration = declaration.resolved
        _ = declaration.register()
        return declaration.store.isManaged(declaration.name)
    }

    /// What is stored: nil where nothing is, an error where it can't be read.
    @_disfavoredOverload
    public func read() throws(PreferencesError) -> Value? {
        try readStrictly()
    }

    /// What is stored: nil where nothing is, an error where it can't be read.
    public func read<Wrapped>() throws(PreferencesError) -> Wrapped? where Value == Wrapped? {
        try readStrictly() ?? nil
    }

    private func readStrictly() throws(PreferencesError) -> Value? {
        let declaration = declaration.resolved
        return try declaration.readStrictly(declaration.register().candidates)
    }

    /// Stores a value; nil removes.
    ///
    /// Throws, and changes nothing, if the rule, the encoding, a managed layer or the disk rejects it. When it returns,
    /// the value is visible to every reader and survives the death of the process; see `PreferenceStore.flush()` for
    /// the loss of power.
    public func write(_ value: Value) throws(PreferencesError) {
        let declaration = declaration.resolved
        guard declaration.member == nil else { return try declaration.replace(with: value) }
        let stored = try declaration.encode(value, over: StoredCandidates())
        do throws(PreferencesError) {
            _ = try declaration.store.core.commit(.one(declaration.name, stored), node: declaration.node)
        } catch {
            throw error.named(declaration.name)
        }
    }

    /// Stores a value, as the blocking form does; the task is suspended while a backend with a timeout, as one of a network, is
    /// called.
    ///
    ///     try await Defaults.general.$theme.write(.dark)
    ///
    /// Swift takes this form wherever `await` is allowed. For a backend without a timeout (memory, file, user defaults) it does
    /// what the blocking form does, on the caller's thread. For one with a timeout a thread of the library calls the backend
    /// and the observers that have no isolation, before this returns; writes of tasks are stored in the order in which they
    /// were called. The timeout covers opening the store, waiting for other calls, and storing.
    ///
    /// - Throws: As the blocking form; `unavailable` if the backend was not called in time, or the task was cancelled before it was
    ///   called: nothing was changed then. A call that has begun runs to its end even if the task is cancelled.
    public nonisolated(nonsending) func write(_ value: Value) async throws(PreferencesError) {
        let declaration = declaration.resolved
        let core = declaration.store.core
        guard let call = core.beginSuspendingCall() else {
            // By its type, the blocking form.
            let write: (Value) throws(PreferencesError) -> Void = write
            return try write(value)
        }
        guard declaration.member == nil else { return try await declaration.replaceSuspending(with: value) }
        let stored = try declaration.encode(value, over: StoredCandidates())
        do throws(PreferencesError) {
            _ = try await core.commit(.one(declaration.name, stored), node: declaration.node, suspending: call)
        } catch {
            throw error.named(declaration.name)
        }
    }

    /// Opens the store, as `PreferenceStore.load()` does, and returns the value: what is stored, else the default.
    ///
    /// - Throws: What keeps the store from being read; `unreadable` or `invalid` if the stored value can't be used.
    public nonisolated(nonsending) func load() async throws(PreferencesError) -> Value {
        let declaration = declaration.resolved
        try await declaration.store.core.load()
        return try declaration.readStrictly(declaration.register().candidates) ?? declaration.makeDefault()
    }

    /// Removes the stored value, so that the default is read; a member of a value is set to the default's.
    ///
    /// An error is reported to the store's issue handler.
    public func reset() {
        guard declaration.member == nil else { return set(defaultValue) }
        declaration.store.remove(declaration.name)
    }

    /// The same preference in another store: for mocks, previews and accounts.
    public func bound(to store: PreferenceStore) -> Preference<Value> {
        Preference(declaration.bound(to: store))
    }
}

// MARK: Members of a value

extension Preference {
    /// The preference of a member of the value, with a value, observers and updates of its own.
    ///
    ///     @Preference("frame") var frame = WindowFrame()
    ///     preferences.$frame[\.width].value += 100
    ///
    /// A set changes that member of the newest value, in one step across processes, and throws or reports
    /// `unreadable` if the stored value can't be decoded. Observers are notified if the member differs; always, if its
    /// type isn't `Equatable`. `reset()` sets the member of the default. Name, stored value, `isSet` and source are
    /// those of the whole value, whose rule applies. An optional value has no members here: `update { $0?.width = 1 }` sets one.
    public subscript<Member: Sendable>(
        keyPath: any WritableKeyPath<Value, Member> & Sendable
    ) -> Preference<Member> {
        let whole = declaration
        return Preference<Member>(
            PreferenceDeclaration(
                name: whole.name,
                in: whole.store,
                coding: PreferenceCoding(whole.coding.identifier) { _ in
                    nil
                } decode: { stored in
                    try whole.decode(stored)?[keyPath: keyPath]
                },
                condition: nil,
                description: whole.description,
                isSecret: whole.isDeclaredSecret,
                member: whole.member(at: keyPath),
                default: { whole.makeDefault()[keyPath: keyPath] }
            )
        )
    }
}

extension PreferenceDeclaration {
    /// A part of this value, which may be a part of another itself.
    fileprivate func member<Member: Sendable>(
        at keyPath: any WritableKeyPath<Value, Member> & Sendable
    ) -> ValueMember<Member> {
        ValueMember(
            keyPath: member?.keyPath.appending(path: keyPath) ?? keyPath,
            rule: condition.map(ObjectIdentifier.init) ?? member?.rule,
            wholes: [ObjectIdentifier(self)] + (member?.wholes ?? [])
        ) { (new, candidates) throws(PreferencesError) in
            var value = try self.readStrictly(candidates) ?? self.makeDefault()
            value[keyPath: keyPath] = new
            return try self.encode(value, over: candidates)
        }
    }
}
