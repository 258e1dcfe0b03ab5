/// A color by its components in sRGB; Apple's may also depend on the environment.
public struct Color: Hashable, Sendable {
    public enum RGBColorSpace: Sendable { case sRGB }

    public struct Resolved: Hashable, Sendable {
        public var red, green, blue, opacity: Float
    }

    private let resolved: Resolved

    public init(_ colorSpace: RGBColorSpace = .sRGB, red: Double, green: Double, blue: Double, opacity: Double = 1) {
        resolved = Resolved(red: Float(red), green: Float(green), blue: Float(blue), opacity: Float(opacity))
    }

    public static let blue = Color(red: 0, green: 0, blue: 1)

    public func resolve(in environment: EnvironmentValues) -> Resolved { resolved }
}
