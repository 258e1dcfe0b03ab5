/// Says whether a value may be stored; a thrown error is the reason why not.
///
/// It runs on any thread, before each write and once for each stored value that is read, and must not use the store.
public typealias PreferenceValidator<Value> = @Sendable (Value) throws -> Bool

/// A declaration's rule for its values; its identity is the rule's, so copies of a preference share it.
final class PreferenceValidation<Value: Sendable>: Sendable {
    private let check: @Sendable (Value) -> String?
    /// The least and the greatest value that are allowed, where a range says so.
    let bounds: (least: Value, greatest: Value)?

    init?(_ validator: PreferenceValidator<Value>?) {
        guard let validator else { return nil }
        bounds = nil
        check = { value in
            do {
                return try validator(value) ? nil : "\(value) is refused by the preference's validation"
            } catch {
                return "\(value) is refused by the preference's validation: \(error)"
            }
        }
    }

    init(range: ClosedRange<Value>) where Value: Comparable {
        bounds = (range.lowerBound, range.upperBound)
        check = { range.contains($0) ? nil : Self.reason($0, range) }
    }

    /// Nil is always allowed.
    init<Bound>(range: ClosedRange<Bound>) where Value == Bound? {
        bounds = (range.lowerBound, range.upperBound)
        check = { value in
            guard let value else { return nil }
            return range.contains(value) ? nil : Self.reason(value, range)
        }
    }

    /// Why `value` is refused; nil where it is allowed.
    func reasonToRefuse(_ value: Value) -> String? { check(value) }

    private static func reason<Bound>(_ value: Bound, _ range: ClosedRange<Bound>) -> String {
        "\(value) is outside \(range.lowerBound)...\(range.upperBound)"
    }
}
