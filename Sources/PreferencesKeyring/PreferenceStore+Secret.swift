internal import Preferences

extension PreferenceStore {
    /// Returns the store of a name over a keyring's backend, which is made at the first use and only outside of isolation.
    static func secret(
        _ name: String,
        backend makeBackend: @escaping @Sendable () throws(PreferenceError) -> any Backend
    ) -> PreferenceStore {
        secret(
            name,
            layers: { () throws(PreferenceError) in
                // Another program knows only the texts of items.
                var layer = Layer(source: Source(try makeBackend()))
                layer.isText = true
                return [layer]
            }
        )
    }

    /// Returns the store of a name over the layers of another store, which is requested at the first use.
    static func secret(
        _ name: String,
        over store: @escaping @Sendable () throws(PreferenceError) -> PreferenceStore
    ) -> PreferenceStore {
        secret(name, layers: { () throws(PreferenceError) in try store().asLayers })
    }
}
