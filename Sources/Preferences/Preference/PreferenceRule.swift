/// The condition that each value of a preference must meet.
///
///     @Preference("volume", .range(0...10)) var volume = 5
///     @Preference("theme", .choices(["light", "dark"])) var theme = "light"
///     @Preference("nickname", .length(1...20)) var nickname: String?
///     @Preference("port", .check { $0 != 80 }) var port = 8080
///
/// A value that breaks the rule is rejected before it is stored and, if it is stored already, when it is read; it is
/// never clamped. The default isn't checked. The rule of an optional applies to the value in it: `nil` is always allowed,
/// unless the closure of `check` takes the optional itself.
///
/// A rule stands in the schema of its group, see `PreferenceGroup.jsonSchema()`, unless it is a closure.
public struct PreferenceRule<Value: Sendable>: Sendable {
    let condition: Condition?

    /// A rule's condition; its identity is the rule's, so that copies of a preference share a decoded value.
    final class Condition: Sendable {
        let kind: Kind
        private let reason: @Sendable (Value) -> String?

        init(_ kind: Kind, reason: @escaping @Sendable (Value) -> String?) {
            self.kind = kind
            self.reason = reason
        }

        /// The reason for which a value is rejected; `nil` if it is allowed.
        func reasonToReject(_ value: Value) -> String? { reason(value) }
    }

    enum Kind: Sendable {
        case range(least: Value?, greatest: Value?)
        case choices([Value])
        case length(Range<Int>)
        case check
    }

    private init(_ condition: Condition?) { self.condition = condition }

    /// Allows every value.
    public static var any: PreferenceRule { PreferenceRule(nil) }

    /// Allows the values for which a closure returns `true`; an error that it throws is the reason for the rejection.
    ///
    /// The closure runs on any thread, before each write and once for each stored value that is read. It must not use
    /// the store.
    public static func check(_ isAllowed: @escaping @Sendable (Value) throws -> Bool) -> PreferenceRule {
        PreferenceRule(Condition(.check) { reason(for: $0, unless: isAllowed) })
    }
}

extension PreferenceRule where Value: Comparable {
    /// Allows the values of a range, its bounds included.
    public static func range(_ range: ClosedRange<Value>) -> PreferenceRule {
        between(range.lowerBound, range.upperBound)
    }

    /// Allows the values from a bound on.
    public static func range(_ range: PartialRangeFrom<Value>) -> PreferenceRule { between(range.lowerBound, nil) }

    /// Allows the values up to a bound, which is included.
    public static func range(_ range: PartialRangeThrough<Value>) -> PreferenceRule { between(nil, range.upperBound) }

    private static func between(_ least: Value?, _ greatest: Value?) -> PreferenceRule {
        PreferenceRule(
            Condition(.range(least: least, greatest: greatest)) { reason(for: $0, between: least, greatest) }
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
    /// Allows values whose number of elements is in a range, such as `1...20` or `1...`; of a string its characters count.
    public static func length(_ lengths: some RangeExpression<Int>) -> PreferenceRule {
        let lengths = lengths.relative(to: 0..<Int.max)
        return PreferenceRule(Condition(.length(lengths)) { reason(for: $0, ofLength: lengths) })
    }
}

extension PreferenceRule {
    /// Allows `nil` and the values for which a closure returns `true`; as the form that takes the optional itself.
    public static func check<Wrapped>(
        _ isAllowed: @escaping @Sendable (Wrapped) throws -> Bool
    ) -> PreferenceRule where Value == Wrapped? {
        PreferenceRule(Condition(.check) { $0.flatMap { reason(for: $0, unless: isAllowed) } })
    }

    /// Allows `nil` and the values of a range, its bounds included.
    public static func range<Wrapped: Comparable>(_ range: ClosedRange<Wrapped>) -> PreferenceRule
    where Value == Wrapped? {
        between(range.lowerBound, range.upperBound)
    }

    /// Allows `nil` and the values from a bound on.
    public static func range<Wrapped: Comparable>(_ range: PartialRangeFrom<Wrapped>) -> PreferenceRule
    where Value == Wrapped? {
        between(range.lowerBound, nil)
    }

    /// Allows `nil` and the values up to a bound, which is included.
    public static func range<Wrapped: Comparable>(_ range: PartialRangeThrough<Wrapped>) -> PreferenceRule
    where Value == Wrapped? {
        between(nil, range.upperBound)
    }

    private static func between<Wrapped: Comparable>(_ least: Wrapped?, _ greatest: Wrapped?) -> PreferenceRule
    where Value == Wrapped? {
        PreferenceRule(
            Condition(.range(least: .some(least), greatest: .some(greatest))) { value in
                value.flatMap { reason(for: $0, between: least, greatest) }
            }
        )
    }

    /// Allows `nil` and the values of a list.
    public static func choices<Wrapped: Equatable>(_ choices: [Wrapped]) -> PreferenceRule where Value == Wrapped? {
        PreferenceRule(Condition(.choices(choices)) { $0.flatMap { reason(for: $0, among: choices) } })
    }

    /// Allows `nil` and values whose number of elements is in a range, such as `1...20` or `1...`; of a string its characters
    /// count.
    public static func length<Wrapped: Collection>(_ lengths: some RangeExpression<Int>) -> PreferenceRule
    where Value == Wrapped? {
        let lengths = lengths.relative(to: 0..<Int.max)
        return PreferenceRule(Condition(.length(lengths)) { $0.flatMap { reason(for: $0, ofLength: lengths) } })
    }
}

private func reason<Value: Comparable>(for value: Value, between least: Value?, _ greatest: Value?) -> String? {
    let isAllowed = least.map { $0 <= value } ?? true && greatest.map { value <= $0 } ?? true
    return isAllowed ? nil : "\(value) is outside \(text(of: least))...\(text(of: greatest))"
}

private func text<Value>(of bound: Value?) -> String { bound.map { "\($0)" } ?? "" }

private func reason<Value: Equatable>(for value: Value, among choices: [Value]) -> String? {
    if choices.contains(value) { return nil }
    return "\(value) is not one of \(choices.map { "\($0)" }.joined(separator: ", "))"
}

private func reason<Value: Collection>(for value: Value, ofLength lengths: Range<Int>) -> String? {
    let length = value.count
    guard !lengths.contains(length) else { return nil }
    let greatest = lengths.upperBound == .max ? nil : lengths.upperBound - 1
    return "the length \(length) is outside \(lengths.lowerBound)...\(text(of: greatest))"
}

private func reason<Value>(for value: Value, unless isAllowed: (Value) throws -> Bool) -> String? {
    do {
        return try isAllowed(value) ? nil : "\(value) is rejected by the preference's rule"
    } catch {
        return "\(value) is rejected by the preference's rule: \(error)"
    }
}
