/// Which place a preference's value comes from.
public enum PreferenceSource: Sendable, Hashable {
    /// Nothing readable is stored: the declared default.
    case `default`
    /// The store itself.
    case store
    /// Another layer of a layered store, by its name.
    case layer(String)

    /// The layer that an administrator writes and the user can't override.
    public static let managed = PreferenceSource.layer("managed")

    /// Whether an administrator imposes the value, so that a control for it should be disabled.
    public var isManaged: Bool { self == .managed }
}
