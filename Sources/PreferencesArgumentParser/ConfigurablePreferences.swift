#if ArgumentParser
public import Preferences

/// A group that names the store of its program, for ``PreferenceCommand``.
///
///     extension Notes: ConfigurablePreferences {
///         static var store: PreferenceStore { .layered([.environment(prefix: "NOTES"), .standard]) }
///     }
///
/// Without it, the command uses the standard store.
public protocol ConfigurablePreferences: PreferenceGroup {
    /// The store that the program reads and writes, without the layer of its options.
    static var store: PreferenceStore { get }
}
#endif
