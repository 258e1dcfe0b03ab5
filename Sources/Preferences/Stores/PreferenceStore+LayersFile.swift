#if !canImport(Darwin)
extension PreferenceStore {
    /// What an administrator imposes on this program, as a layer: `/etc/<suite>/managed.jsonl` of the standard suite.
    ///
    /// Can only be read. `.standard` and every `.suite` have their own already.
    public static let managed = layers { [.managed(file: $0.managedPath)] }

    /// The system's defaults for this program, as a layer: `<suite>/preferences.jsonl` in each of `$XDG_CONFIG_DIRS`.
    ///
    /// Can only be read. `.standard` and every `.suite` have their own already.
    public static let system = layers { $0.systemPaths.map { .system(file: $0) } }

    private static func layers(_ make: @escaping @Sendable (SuiteLocation) -> [Layer]) -> PreferenceStore {
        PreferenceStore(standIn: nil) {
            do throws(PreferencesError) { return make(try SharedStore.standard.location()) } catch { return [] }
        }
    }
}
#endif
