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
        declaration = PreferenceDeclaration(
            name: name,
            in: store ?? GroupBinding.store,
            coding: coding,
            options: options.isEmpty ? nil : Self.combined(options),
            default: makeDefault
        )
        if store == nil { GroupBinding.record(declaration, name: name) }
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
    /// throws the error instead. If the store can't be opened, the value is shown and reported, and stored once the store can be
    /// opened: a struct, a list or a dictionary is then merged into the stored one.
    ///
    /// `list.append(x)` and `n += 1` read and then set, so a change in between is lost; `update(_:)` is
    /// atomic.
    public var value: Value {
        @inlinable get { declaration.value }
        nonmutating set {
            do throws(PreferenceError) {
                try write(newValue)
            } catch {
                declaration.resolved.keep(newValue, because: error)
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
        _ = declaration.register()
        // A validated store shows this of the other one, whose changes it might not take over.
        if let newest = declaration.store.core.target { _ = declaration.bound(to: newest).register() }
        return declaration.store.core.ownValue(ofPreference: declaration.name) != nil
    }

    /// The stored form of the value, or `nil` if nothing is stored; if no stored value can be used, the strongest layer's. Registers with
    /// Observation.
    public var storedValue: PropertyListValue? {
        let declaration = declaration.resolved
        _ = declaration.register()
        let candidates = declaration.store.core.candidates(for: declaration.name).1
        return (candidates.first(where: declaration.canRead) ?? candidates.first)?.value
    }

    /// The store or layer that the value comes from now. Registers with Observation.
    public var source: PreferenceSource {
        let declaration = declaration.resolved
        _ = declaration.register()
        return declaration.source
    }

    /// Whether an administrator manages the value, so that setting it fails.
    ///
    /// Also `true` if the managed value can't be used, and for each name of a suite whose managed file exists but could not be read
    /// since the program started. Reading it registers with Observation.
    public var isManaged: Bool {
        let declaration = declaration.resolved
        _ = declaration.register()
        return declaration.store.isManaged(declaration.name)
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
        // Looked at first: another thread may open the store, or the user unlock the device, behind the reading of the candidates.
        let isReadable = core.isReadable
        if !isReadable {
            _ = declaration.register()
            try core.checkOpened(for: declaration.name)
        }
        return try declaration.loadStrictly()
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
        if let store = declaration.store.isolated { return try Preference(declaration.bound(to: store)).write(value) }
        guard declaration.member == nil else { return try declaration.replace(with: value) }
        let stored = try declaration.encode(value)
        let core = declaration.store.core
        declaration.noteStrongerValue(in: core)
        do throws(PreferenceError) {
            guard !declaration.dependsOnStored(stored) else { return try declaration.store(stored) }
            guard core.hasFormerNames else {
                _ = try core.commit(.one(declaration.name, stored), node: declaration.node)
                return
            }
            _ = try core.commit(core.changes(of: declaration.name, to: stored))
        } catch {
            throw error.named(declaration.name)
        }
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
        let declaration = declaration.resolved
        let core = declaration.store.core
        guard let call = core.beginSuspendingCall() else {
            // The type selects the blocking form.
            let write: (Value) throws(PreferenceError) -> Void = write
            return try write(value)
        }
        guard declaration.member == nil else { return try await declaration.replaceSuspending(with: value) }
        let stored = try declaration.encode(value)
        declaration.noteStrongerValue(in: core)
        do throws(PreferenceError) {
            guard !declaration.dependsOnStored(stored) else {
                return try await declaration.storeSuspending(stored, call)
            }
            _ = try await core.commit(core.changes(of: declaration.name, to: stored), suspending: call)
        } catch {
            throw error.named(declaration.name)
        }
    }

    /// Removes the stored value, so that the default is read; sets a member of a value to that member of the default.
    ///
    /// An error is reported to the store's issue handler; nothing is changed then. If the store can't be opened, the value is removed
    /// once it can be.
    public func reset() {
        guard declaration.member == nil else { return value = defaultValue }
        let core = declaration.store.resolved.core
        core.commitOrReport(core.changes(of: declaration.name, to: nil), of: declaration.name)
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
            },
            merge: { (candidates) throws(PreferenceError) in try self.merge(over: candidates) }
        ) { (new, candidates, part) throws(PreferenceError) in
            var value = try self.readStrictly(candidates) ?? self.makeDefault()
            value[keyPath: keyPath] = new
            let own = MemberSet(form: self.coding.form.part(of: new), keyPath: path)
            return try self.encode(value, over: candidates, part: part ?? own)
        }
    }
}
