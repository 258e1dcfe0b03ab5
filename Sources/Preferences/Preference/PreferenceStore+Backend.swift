extension PreferenceStore {
    /// Creates a store over a backend.
    ///
    /// Each call creates a store with its own cache, so use a backend for one store only. The backend is loaded at the first
    /// read or write; if that fails, reads return defaults, the error goes to the issue handler, and each write tries again.
    ///
    /// The other parameters are for a layer of `layered(_:)`:
    ///
    ///     let remote = PreferenceStore(backend: RemoteBackend(), name: "remote", isReadOnly: true)
    ///     let preferences = GeneralPreferences(in: .layered([remote, .standard]))
    ///     print(preferences.$volume.source)  // remote
    ///
    /// - Parameters:
    ///   - backend: The place of the values.
    ///   - name: The name of a read-only layer in `Preference.source`; by default `managed` or `read-only`.
    ///   - isReadOnly: Whether writes skip the layer; `change` is then never called.
    ///   - isManaged: Whether the layer's values can't be overridden, wherever it is listed; the layer is then read-only.
    ///   - isSecret: Whether every value is a secret, so that descriptions, errors and reports print `<redacted>` for it. The
    ///     same applies in each layered store that contains this one.
    public convenience init(
        backend: any PreferenceBackend,
        name: String? = nil,
        isReadOnly: Bool = false,
        isManaged: Bool = false,
        isSecret: Bool = false
    ) {
        var layer = Layer(source: Source(custom: backend))
        layer.name = name ?? (isManaged ? "managed" : isReadOnly ? "read-only" : "store")
        (layer.isReadOnly, layer.isManaged) = (isReadOnly || isManaged, isManaged)
        self.init(layer, isSecret: isSecret)
    }
}
