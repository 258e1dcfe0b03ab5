/// A typical value of a program, with `Codable` as its only conformance.
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

    /// Creates a profile with all its defaults.
    public init() {}
}
