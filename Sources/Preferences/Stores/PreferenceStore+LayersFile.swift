#if !canImport(Darwin)
extension PreferenceStore {
    /// What an administrator imposes on this program, as a layer: `/etc/<suite>/managed.jsonl` of the standard suite.
    ///
    /// Can only be read. `.standard` and every `.suite` have their own already.
    public static let managed = layers { [PreferenceStore(file: $0.managedPath, role: .managed)] }

    /// The system's defaults for this program, as a layer: `<suite>/preferences.jsonl` in each of `$XDG_CONFIG_DIRS`.
    ///
    /// Can only be read. `.standard` and every `.suite` have their own already.
    public static let system = layers { $0.systemPaths.map { PreferenceStore(file: $0, role: .system) } }

    private static func layers(_ make: @escaping @Sendable (SuiteLocation) -> [PreferenceStore]) -> PreferenceStore {
        PreferenceStore(
            source: LayeredSource {
                do throws(PreferencesError) {
                    return make(try SharedStore.standard.location())
                } catch {
                    return []
                }
            }
        )
    }
}
#endif
