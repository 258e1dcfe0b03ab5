/// A named, typed setting with a default, kept in a store.
///
/// It is a property wrapper, the wrapper's projected value, and a plain value that can meet a protocol requirement:
///
///     struct GeneralPreferences: PreferenceGroup {
///         @Preference("AutomaticallyUpdate") var automaticallyUpdate = true
///         let selected = Preference("selected", default: DashboardItem.templates)
///     }
///
/// A preference is a light handle: its copies, and other declarations of the same name in the same store, show the same value.
/// All members may be used on any thread. Declaring a preference reads nothing, and reading it never writes.
///
/// Declare a secret in a store that encrypts it, such as `.keyring` of the product `PreferencesKeyring`. A preference with
/// the option `.secret` is a secret in any store: descriptions, errors, issues, changes and mirrors show `<redacted>` in place of its
/// value and its default, and a schema has neither. `value` and the store's subscript still return the value itself.
@propertyWrapper
public struct Preference<Value: Sendable>: Sendable {
    @usableFromInline package let declaration: PreferenceDeclaration<Value>

    init(
        declaring name: String,
        _ coding: PreferenceCoding<Value>,
        _ options: [PreferenceOption<Value>],
        _ store: PreferenceStore?,
        _ makeDefault: @escaping @Sendable () -> Value
    ) {
        precondition(!name.isEmpty, "A preference needs a name that is not empty.")
        let used = store.map(GroupBinding.store(for:)) ?? GroupBinding.store
        declaration = PreferenceDeclaration(
            name: name,
            in: used,
            coding: coding,
            options: options.isEmpty ? nil : Self.combined(options),
            default: makeDefault
        )
        if used !== store { GroupBinding.record(declaration, name: name) }
    }

    // Out of line, because it looks up the type of an option, which takes 300 instructions.
    @inline(never)
    private static func combined(_ options: [PreferenceOption<Value>]) -> DeclaredOptions {
        DeclaredOptions(options.map(\.kind))
    }

    init(_ declaration: PreferenceDeclaration<Value>) {
        self.declaration = declaration
    }

    /// The stored value, or the default if nothing is stored.
    ///
    /// Reading registers with Observation. If the stored value can't be decoded or breaks the rule, reading gives the default,
    /// or the value of the next layer that has a usable one; the error is reported once to the store's issue handler, and the
    /// stored value is kept.
    ///
    /// Setting `nil` removes the stored value. A write that fails changes nothing and is reported to the issue handler; `write(_:)`
    /// throws the error instead. A value that can't be stored within a tenth of a second, because the store is in use or its place can't
    /// store now, is shown at once and stored as soon as it can be; of several, the last one.
    ///
    /// `list.append(x)` and `n += 1` read and then set, so a change in between is lost; `update(_:)` is
    /// atomic.
    public var value: Value {
        @inlinable get { declaration.value }
        nonmutating set {
            do throws(PreferenceError) {
                try declaration.set(newValue)
            } catch {
                declaration.store.resolved.core.report(error.named(name))
            }
        }
    }

    /// The value of the wrapped property; the same as `value`.
    @inlinable
    public var wrappedValue: Value {
        get { declaration.value }
        nonmutating set { value = newValue }
    }

    /// The preference itself, for the property's name with a `$`.
    @inlinable
    public var projectedValue: Self { self }

    /// The name under which the value is stored.
    public var name: String { declaration.name }

    /// The default, evaluated again at each access.
    public var defaultValue: Value { declaration.makeDefault() }

    /// The purpose of the preference, from the option `.description`.
    public var declaredDescription: String? { declaration.options?.description }

    /// Whether the value is a secret, which descriptions, errors and reports don't show.
    ///
    /// It is one if this declaration or another one of the name says so, or if every value of the store is a secret, as in the
    /// system's keyring.
    public var isSecret: Bool { declaration.isDeclaredSecret || store.isSecret(name) }

    /// The store in which the preference was declared.
    public var store: PreferenceStore { declaration.store }

}

extension Preference {
    /// Whether the store itself, or the writable layer of a layered store, has a value, readable or not. Registers with Observation.
    public var isSet: Bool {
        let declaration = declaration.resolved
        _ = declaration.registered()
        return declaration.own().contains(where: declaration.isOwn)
    }

    /// The stored form of the value, or `nil` if nothing is stored; if no stored value can be used, the strongest layer's. Registers with
    /// Observation.
    public var storedValue: PropertyListValue? {
        let declaration = declaration.resolved
        let candidates = declaration.registered()
        return (candidates.first(where: declaration.canRead) ?? candidates.first)?.value
    }

    /// The store or layer that the value comes from now. Registers with Observation.
    public var source: PreferenceSource {
        let declaration = declaration.resolved
        return declaration.source(among: declaration.registered())
    }

    /// Whether an administrator manages the value, so that setting it fails.
    ///
    /// Also `true` if the managed value can't be used, and for each name if a managed store can't be opened. Reading it registers with
    /// Observation.
    public var isManaged: Bool {
        let declaration = declaration.resolved
        let candidates = declaration.registered()
        let layers = declaration.store.core.layers
        // A managed layer that can't be opened may have any value.
        if layers.contains(where: { $0.isManaged && !$0.source.isOpen }) { return true }
        if candidates.contains(where: { layers[$0.layer].isManaged }) { return true }
        let core = declaration.store.core
        return ([name] + core.formerNames(of: declaration.node)).contains(where: core.isManagedByPlace)
    }

    /// Returns the stored value, or `nil` if nothing is stored. Registers with Observation.
    ///
    /// - Throws: `unreadable` if the stored value can't be decoded, or `invalid` if it breaks the rule, unless the next layer has a
    ///   usable value; `unavailable` if the store can't be opened, unless a stronger layer has a value; another code if a coding of
    ///   your own throws it.
    @_disfavoredOverload
    public func read() throws(PreferenceError) -> Value? {
        try readStrictly()
    }

    /// Returns the stored value, or `nil` if nothing is stored. Registers with Observation.
    ///
    /// - Throws: `unreadable` if the stored value can't be decoded, or `invalid` if it breaks the rule, unless the next layer has a
    ///   usable value; `unavailable` if the store can't be opened, unless a stronger layer has a value; another code if a coding of
    ///   your own throws it.
    public func read<Wrapped>() throws(PreferenceError) -> Wrapped? where Value == Wrapped? {
        try readStrictly() ?? nil
    }

    private func readStrictly() throws(PreferenceError) -> Value? {
        let declaration = declaration.resolved
        let core = declaration.store.core
        let failures = core.failures()
        let candidates = declaration.registered()
        var outcome = ReadOutcome()
        let value = declaration.read(candidates, &outcome)
        // Another value might stand where nothing can be read.
        let used = outcome.used(in: candidates)
        if let failures, let error = core.failure(of: declaration.node, before: used, failures) {
            throw error.named(name)
        }
        if let failure = outcome.failure { throw failure }
        return value
    }

    /// Stores a value, or removes the stored one if `value` is `nil`.
    ///
    /// When it returns, the value is visible to every reader and survives the death of the process; `PreferenceStore.flush()` makes
    /// it survive a loss of power.
    ///
    /// - Throws: `invalid` if the rule rejects the value, `unencodable` if it can't be encoded, `managed` if an administrator manages
    ///   it, or the error of the store, such as `readOnly` or `unavailable`. Nothing is changed then.
    public func write(_ value: Value) throws(PreferenceError) {
        // Not by `resolved`, which retains the declaration.
        if let store = declaration.store.isolated { return try declaration.bound(to: store).write(value) }
        try declaration.write(value)
    }

    /// Stores a value, as the blocking form does; the task is suspended when that has to wait.
    ///
    ///     try await preferences.$theme.write(.dark)
    ///
    /// Swift chooses this form wherever `await` is allowed. For a store in memory, in user defaults or in an open file it does what the
    /// blocking form does, on the caller's thread. If it has to wait (for a network or another backend with a timeout, for the
    /// lock of a file, to open a file, or for the disk with `.immediate` durability), a thread of the library stores the value and
    /// calls the observers that have no isolation before this returns; the writes of tasks that wait are stored in the order of the
    /// calls. One deadline, the backend's timeout or 5 seconds for a file, covers opening the store, waiting for other calls and
    /// for other processes, and storing.
    ///
    /// - Throws: The errors of the blocking form; `unavailable`, or `busy` for a file, if the call didn't begin in time; `unavailable` if
    ///   the task was cancelled before. Nothing was changed then. A call that has begun runs to its end even if the task is cancelled.
    public nonisolated(nonsending) func write(_ value: Value) async throws(PreferenceError) {
        try await declaration.resolved.write(value)
    }

    /// Removes the stored value, so that the default is read; sets a member of a value to that member of the default.
    ///
    /// An error is reported to the store's issue handler; nothing is changed then. If the store can't be opened, the value is removed
    /// once it can be.
    public func reset() {
        guard declaration.member == nil else { return value = defaultValue }
        let core = declaration.store.resolved.core
        let declaration = declaration.resolved
        if let error = core.set(core.changes(of: declaration.node, to: nil)) { core.report(error.named(name)) }
    }

    /// Returns the same preference in another store, for mocks, previews and accounts.
    public func bound(to store: PreferenceStore) -> Preference<Value> {
        Preference(declaration.bound(to: store))
    }
}

// MARK: Members of a value

extension Preference {
    /// The preference of a member of the value, with its own value, observers and updates.
    ///
    ///     @Preference("frame") var frame = WindowFrame()
    ///     preferences.$frame[\.width].value += 100
    ///
    /// Setting it changes that member of the newest value, in one step across processes, and throws or reports `unreadable` if the
    /// stored value can't be decoded. Observers are notified if the member differs. `reset()` sets the member to that of the default.
    /// `name`, `storedValue`, `isSet` and `source` are those of the whole value, whose rule applies.
    ///
    /// An optional value has no members here; `update { $0?.width = 1 }` sets one.
    public subscript<Member: Sendable>(
        keyPath: any WritableKeyPath<Value, Member> & Sendable
    ) -> Preference<Member> {
        let whole = declaration
        return Preference<Member>(
            PreferenceDeclaration(
                name: whole.name,
                in: whole.store,
                // The member is stored and read as a part of the whole value.
                coding: PreferenceCoding(whole.coding.identifier, whole.coding.form) { _ in
                    nil
                } decode: { _ in
                    nil
                },
                options: whole.options,
                member: whole.member(at: keyPath),
                default: { whole.makeDefault()[keyPath: keyPath] }
            )
        )
    }
}

extension PreferenceDeclaration {
    /// Returns a member of this value, which may itself be a member of another value.
    fileprivate func member<Member: Sendable>(
        at keyPath: any WritableKeyPath<Value, Member> & Sendable
    ) -> ValueMember<Member> {
        nonisolated(unsafe) let path = member?.keyPath.appending(path: keyPath) ?? keyPath
        return ValueMember(
            keyPath: path,
            rules: member == nil ? options?.slotIdentity : member?.rules,
            enclosingDeclarations: [ObjectIdentifier(self)] + (member?.enclosingDeclarations ?? []),
            decode: { (stored, problems, isText) throws(PreferenceError) in
                try self.decode(stored, &problems, isText: isText)?[keyPath: keyPath]
            },
            isStored: { (value, stored, part) in
                self.stores(
                    part ?? MemberSet(form: value.flatMap { self.coding.form.part(of: $0) }, keyPath: path),
                    in: stored
                )
            }
        ) { (new, candidates, part) throws(PreferenceError) in
            var value = try self.readStrictly(candidates) ?? self.makeDefault()
            value[keyPath: keyPath] = new
            let own = MemberSet(form: self.coding.form.part(of: new), keyPath: path)
            return try self.encode(value, over: candidates, part: part ?? own)
        }
    }
}
