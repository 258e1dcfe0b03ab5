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
@propertyWrapper
public struct Preference<Value: Sendable>: Sendable {
    @usableFromInline let slot: PreferenceSlot<Value>
    @usableFromInline let makeDefault: @Sendable () -> Value

    init(
        _ name: String,
        store: PreferenceStore?,
        coding: PreferenceCoding<Value>,
        validation: PreferenceValidation<Value>?,
        default makeDefault: @escaping @Sendable () -> Value
    ) {
        precondition(!name.isEmpty, "A preference needs a name that is not empty.")
        let rules = PreferenceRules(coding: coding, validation: validation)
        slot = (store ?? GroupBinding.store).slot(named: name, rules: rules)
        self.makeDefault = makeDefault
        if store == nil { GroupBinding.note(slot, name: name) }
    }

    init(slot: PreferenceSlot<Value>, default makeDefault: @escaping @Sendable () -> Value) {
        self.slot = slot
        self.makeDefault = makeDefault
    }

    /// The preference's value: what is stored, else the default.
    ///
    /// Reading registers with Observation. An unreadable or invalid stored value gives the default and is reported once
    /// to the store's issue handler; it stays stored. Setting nil removes. A set that is refused is reported and
    /// changes nothing: `write` throws instead. `list.append(x)` and `n += 1` are a read and a write, not one step:
    /// `update` is.
    @inlinable
    public var value: Value {
        get { slot.value(default: makeDefault) }
        nonmutating set { set(newValue) }
    }

    /// The value, as a wrapped property shows it.
    @inlinable
    public var wrappedValue: Value {
        get { slot.value(default: makeDefault) }
        nonmutating set { set(newValue) }
    }

    /// The preference itself, as `$name`.
    @inlinable
    public var projectedValue: Self { self }

    /// The name under which the value is stored.
    public var name: String { slot.name }

    /// The default, made anew at each call.
    public var defaultValue: Value { makeDefault() }

    /// The store in which the preference was declared.
    public var store: PreferenceStore { slot.store }

    @usableFromInline
    func set(_ value: Value) {
        do throws(PreferencesError) {
            try write(value)
        } catch {
            slot.store.resolved.report(error)
        }
    }
}

extension Preference {
    /// The slot in use: the declared store's, or that of the store that stands in for it just now.
    var resolvedSlot: PreferenceSlot<Value> {
        guard let store = slot.store.isolated else { return slot }
        return store.slot(named: slot.name, rules: slot.rules)
    }

    /// Whether a value is stored in the store itself, readable or not; for a layered store, in its writable layer.
    public var isSet: Bool {
        let slot = resolvedSlot
        return slot.store.ownValue(of: slot.name) != nil
    }

    /// What is stored, also when it can't be decoded; nil where nothing is.
    public var storedValue: PropertyListValue? {
        slot.store[slot.name]
    }

    /// Where the value comes from just now.
    public var source: PreferenceSource {
        let slot = resolvedSlot
        return slot.store.source(of: slot.name) { slot.rules.canRead($0, name: slot.name) }
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
        let slot = resolvedSlot
        slot.signal.access()
        let candidates = slot.store.snapshot(with: slot.name).candidates(for: slot.name)
        return try slot.rules.readStrictly(candidates, name: slot.name)
    }

    /// Stores a value; nil removes.
    ///
    /// Throws, and changes nothing, where validation, encoding, a managed layer or the disk refuses it. When it
    /// returns, the value is visible to every reader and survives the death of the process; see
    /// `PreferenceStore.flush()` for the loss of power.
    public func write(_ value: Value) throws(PreferencesError) {
        let slot = resolvedSlot
        _ = try slot.store.commit([slot.name: slot.rules.encode(value, name: slot.name)])
    }

    /// Removes what is stored, so that the default answers.
    ///
    /// What goes wrong is reported to the store's issue handler.
    public func reset() {
        slot.store.remove(slot.name)
    }

    /// The same preference in another store: for mocks, previews and accounts.
    public func bound(to store: PreferenceStore) -> Preference<Value> {
        Preference(slot: store.slot(named: slot.name, rules: slot.rules), default: makeDefault)
    }
}
