/// `Optional`, as a constraint: a coding that needs more of the wrapped type than `PreferenceValue` names it.
public protocol OptionalPreferenceValue: ExpressibleByNilLiteral {
    /// The type of the value when it is set.
    associatedtype Wrapped
    /// The value when it is set.
    var wrapped: Wrapped? { get }
    /// Makes a value that is set.
    init(_ wrapped: Wrapped)
}

extension Optional: OptionalPreferenceValue {
    /// The optional itself.
    public var wrapped: Wrapped? { self }
}
