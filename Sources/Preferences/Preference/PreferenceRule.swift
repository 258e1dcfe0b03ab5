/// The condition that each value of a preference must meet.
///
///     @Preference("volume", .range(0...10)) var volume = 5
///     @Preference("theme", .choices(["light", "dark"])) var theme = "light"
///     @Preference("nickname", .length(1...20)) var nickname: String?
///     @Preference("port", .check { $0 != 80 }) var port = 8080
///
/// A value that breaks the rule is never clamped: setting it fails with the error `invalid`, and reading it, if it is already stored,
/// gives the default. The default isn't checked. The rule of an optional applies to the wrapped value, and `nil` is always allowed,
/// unless the closure of `check` takes the optional itself.
///
/// The schema of the group has the rule, see `PreferenceGroup.jsonSchema()`, unless it is a closure.
public struct PreferenceRule<Value: Sendable>: Sendable {
    let condition: Condition?

    /// A rule's condition, whose identity is that of the rule: copies of a preference, which have it, share a decoded value.
    final class Condition: Sendable {
        let kind: Kind
        private let reason: @Sendable (Value) -> String?

        init(_ kind: Kind, reason: @escaping @Sendable (Value) -> String?) {
            self.kind = kind
            self.reason = reason
        }

        /// Returns the reason to reject a value, or `nil` if it is allowed.
        func reasonToReject(_ value: Value) -> String? { reason(value) }
    }

    enum Kind: Sendable {
        case range(minimum: Value?, maximum: Value?)
        case choices([Value])
        case length(Range<Int>)
        case check
    }

    private init(_ condition: Condition?) { self.condition = condition }

    /// Allows every value.
    public static var any: PreferenceRule { PreferenceRule(nil) }

    /// Allows the values for which a closure returns `true`.
    ///
    /// - Parameter isAllowed: Returns whether a value is allowed, or throws the reason to reject it, which the error `invalid` shows.
    ///   It runs on any thread, before each write and once for each stored value that is read. It must not use the store.
    public static func check(_ isAllowed: @escaping @Sendable (Value) throws -> Bool) -> PreferenceRule {
        PreferenceRule(Condition(.check) { reason(for: $0, unless: isAllowed) })
    }
}

extension PreferenceRule where Value: Comparable {
    /// Allows the values of a range, including its bounds.
    public static func range(_ range: ClosedRange<Value>) -> PreferenceRule {
        between(range.lowerBound, range.upperBound)
    }

    /// Allows the values of at least a minimum, as in `1...`.
    public static func range(_ range: PartialRangeFrom<Value>) -> PreferenceRule { between(range.lowerBound, nil) }

    /// Allows the values of at most a maximum, as in `...10`.
    public static func range(_ range: PartialRangeThrough<Value>) -> PreferenceRule { between(nil, range.upperBound) }

    private static func between(_ minimum: Value?, _ maximum: Value?) -> PreferenceRule {
        PreferenceRule(
            Condition(.range(minimum: minimum, maximum: maximum)) { reason(for: $0, between: minimum, maximum) }
        )
    }
}

extension PreferenceRule where Value: Equatable {
    /// Allows the values of a list.
    public static func choices(_ choices: [Value]) -> PreferenceRule {
        PreferenceRule(Condition(.choices(choices)) { reason(for: $0, among: choices) })
    }
}

extension PreferenceRule where Value: Collection {
    /// Allows collections whose number of elements, and strings whose number of characters, is in a range, such as `1...20` or `1...`.
    public static func length(_ lengths: some RangeExpression<Int>) -> PreferenceRule {
        let lengths = lengths.relative(to: 0..<Int.max)
        return PreferenceRule(Condition(.length(lengths)) { reason(for: $0, ofLength: lengths) })
    }
}

extension PreferenceRule {
    /// Allows `nil` and the values for which a closure returns `true`.
    ///
    /// - Parameter isAllowed: Returns whether a wrapped value is allowed, or throws the reason to reject it, which the error `invalid`
    ///   shows. It runs on any thread, before each write and once for each stored value that is read. It must not use the store.
    public static func check<Wrapped>(
        _ isAllowed: @escaping @Sendable (Wrapped) throws -> Bool
    ) -> PreferenceRule where Value == Wrapped? {
        PreferenceRule(Condition(.check) { $0.flatMap { reason(for: $0, unless: isAllowed) } })
    }

    /// Allows `nil` and the values of a range, including its bounds.
    public static func range<Wrapped: Comparable>(_ range: ClosedRange<Wrapped>) -> PreferenceRule
    where Value == Wrapped? {
        between(range.lowerBound, range.upperBound)
    }

    /// Allows `nil` and the values of at least a minimum, as in `1...`.
    public static func range<Wrapped: Comparable>(_ range: PartialRangeFrom<Wrapped>) -> PreferenceRule
    where Value == Wrapped? {
        between(range.lowerBound, nil)
    }

    /// Allows `nil` and the values of at most a maximum, as in `...10`.
    public static func range<Wrapped: Comparable>(_ range: PartialRangeThrough<Wrapped>) -> PreferenceRule
    where Value == Wrapped? {
        between(nil, range.upperBound)
    }

    private static func between<Wrapped: Comparable>(_ minimum: Wrapped?, _ maximum: Wrapped?) -> PreferenceRule
    where Value == Wrapped? {
        PreferenceRule(
            Condition(.range(minimum: .some(minimum), maximum: .some(maximum))) { value in
                value.flatMap { reason(for: $0, between: minimum, maximum) }
            }
        )
    }

    /// Allows `nil` and the values of a list.
    public static func choices<Wrapped: Equatable>(_ choices: [Wrapped]) -> PreferenceRule where Value == Wrapped? {
        PreferenceRule(Condition(.choices(choices)) { $0.flatMap { reason(for: $0, among: choices) } })
    }

    /// Allows `nil`, collections whose number of elements, and strings whose number of characters, is in a range, such as `1...20` or
    /// `1...`.
    public static func length<Wrapped: Collection>(_ lengths: some RangeExpression<Int>) -> PreferenceRule
    where Value == Wrapped? {
        let lengths = lengths.relative(to: 0..<Int.max)
        return PreferenceRule(Condition(.length(lengths)) { $0.flatMap { reason(for: $0, ofLength: lengths) } })
    }
}

private func reason<Value: Comparable>(for value: Value, between minimum: Value?, _ maximum: Value?) -> String? {
    let isAllowed = minimum.map { $0 <= value } ?? true && maximum.map { value <= $0 } ?? true
    return isAllowed ? nil : "\(value) is outside \(text(of: minimum))...\(text(of: maximum))"
}

private func text<Value>(of bound: Value?) -> String { bound.map { "\($0)" } ?? "" }

private func reason<Value: Equatable>(for value: Value, among choices: [Value]) -> String? {
    if choices.contains(value) { return nil }
    return "\(value) is not one of \(choices.map { "\($0)" }.joined(separator: ", "))"
}

private func reason<Value: Collection>(for value: Value, ofLength lengths: Range<Int>) -> String? {
    let length = value.count
    guard !lengths.contains(length) else { return nil }
    let maximum = lengths.upperBound == .max ? nil : lengths.upperBound - 1
    return "the length \(length) is outside \(lengths.lowerBound)...\(text(of: maximum))"
}

private func reason<Value>(for value: Value, unless isAllowed: (Value) throws -> Bool) -> String? {
    do {
        return try isAllowed(value) ? nil : "\(value) is rejected by the preference's rule"
    } catch {
        return "\(value) is rejected by the preference's rule: \(error)"
    }
}
