/// The source of a preference's value: a layer of its store, or the declared default.
///
/// Print it, compare it with `.default` and `.store`, or look at the layer's name:
///
///     if preferences.$volume.source.name == "arguments" { … }
///
/// A layer that is named `default` or `store` isn't equal to `.default` or `.store`.
public struct PreferenceSource: Sendable, Hashable, CustomStringConvertible {
    /// The name of the layer, `store` or `default`.
    public let name: String
    /// Whether an administrator manages the value: the layer is a managed one, whatever its name, or the store's backend reports
    /// the name as managed.
    public let isManaged: Bool
    private let kind: Kind

    private enum Kind: Sendable, Hashable {
        case `default`, store, layer
    }

    private init(name: String, isManaged: Bool = false, kind: Kind) {
        self.name = name
        self.isManaged = isManaged
        self.kind = kind
    }

    /// The declared default, because no readable value is stored.
    public static let `default` = PreferenceSource(name: "default", kind: .default)
    /// The store itself, which in a layered store is the writable layer.
    public static let store = PreferenceSource(name: "store", kind: .store)

    /// Creates the source for a layer that isn't the writable one.
    init(layer name: String, isManaged: Bool = false) {
        self.init(name: name, isManaged: isManaged, kind: .layer)
    }

    /// The name.
    public var description: String { name }
}
