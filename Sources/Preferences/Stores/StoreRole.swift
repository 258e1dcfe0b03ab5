/// What part a store can play among layers.
struct StoreRole: Sendable {
    /// Names the layer in `PreferenceSource.layer`.
    var name = "store"
    var isReadOnly = false
    /// Whether values are text that a person wrote for a declared type.
    var isText = false
    /// How a preference's name is written, where that is another way.
    var spelling: (@Sendable (String) -> String)?

    /// Whether a value of the layer keeps the user from setting another.
    var isManaged: Bool { PreferenceSource.layer(name).isManaged }

    static let managed = StoreRole(name: "managed", isReadOnly: true)
    static let system = StoreRole(name: "system", isReadOnly: true)
    /// The command line among other sources of the system, which adds some of its own.
    static let unlistedArguments = StoreRole(name: "arguments", isReadOnly: true, isText: true) { $0 }
    static let arguments = StoreRole(name: "arguments", isReadOnly: true, isText: true)
}
