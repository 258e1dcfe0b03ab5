/// A value as programs define them, without any conformance but `Codable`.
public struct Profile: Codable, Equatable, Sendable {
    /// A short text.
    public var title = "untitled"
    /// A number that changes.
    public var width = 800
    /// Another.
    public var height = 600
    /// A real.
    public var scale = 1.5
    /// A collection.
    public var tags = ["red", "green"]

    /// Makes one with all its defaults.
    public init() {}
}
