/// A type whose properties are preferences.
///
/// A group is a struct (or an actor). `init()` puts its preferences in the standard store, `init(in:)` in another. The
/// compiler makes `init()` unless the group is `public`.
///
///     struct GeneralPreferences: PreferenceGroup {
///         @Preference("AutomaticallyUpdate") var automaticallyUpdate = true
///     }
///     let preview = GeneralPreferences(in: .inMemory())
public protocol PreferenceGroup: Sendable {
    /// Makes the group over the store bound just now: the standard one, unless `init(in:)` binds another.
    init()
}

extension PreferenceGroup {
    /// Makes the same group over another store.
    ///
    /// Binds the stored properties that are initialised while `init()` runs, nested groups included; not lazy, static
    /// or computed ones, nor those with an explicit `in:`. In debug builds a static property that is bound by accident,
    /// because `init()` is the first to touch it, is reported to the store's issue handler.
    public init(in store: PreferenceStore) {
        let binding = GroupBinding(to: store)
        self = GroupBinding.$current.withValue(binding) { Self() }
        assert(binding.reportStrays(outside: self))
    }
}
