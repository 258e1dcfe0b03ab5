/// How one declaration turns a value into a stored value and back: its coding and its validation.
///
/// A class, as copies of a generic struct look its type up each time.
final class PreferenceRules<Value: Sendable>: Sendable {
    let coding: PreferenceCoding<Value>
    let validation: PreferenceValidation<Value>?

    init(coding: PreferenceCoding<Value>, validation: PreferenceValidation<Value>?) {
        self.coding = coding
        self.validation = validation
    }

    /// What a slot is shared by, besides the name.
    var key: SlotKey {
        SlotKey(
            type: ObjectIdentifier(Value.self),
            coding: coding.identifier,
            validation: validation.map(ObjectIdentifier.init)
        )
    }

    /// What to store for `value`; nil removes.
    func encode(_ value: Value, name: String) throws(PreferencesError) -> PropertyListValue? {
        if let reason = validation?.reasonToRefuse(value) {
            throw PreferencesError(.invalid, name: name, "\(reason); nothing was changed")
        }
        do {
            return try coding.encode(value)
        } catch var error as PreferencesError {
            error.name = name
            throw error
        } catch {
            throw PreferencesError(
                .unencodable,
                name: name,
                "the \(Value.self) can't be stored; nothing was changed",
                cause: error
            )
        }
    }

    /// The value of what is stored; nil where it counts as absent.
    func decode(_ stored: PropertyListValue, name: String) throws(PreferencesError) -> Value? {
        let value: Value?
        do {
            value = try coding.decode(stored)
        } catch var error as PreferencesError {
            error.name = name
            throw error
        } catch {
            throw PreferencesError(
                .unreadable,
                name: name,
                "what is stored is not a \(Value.self); it stays as it is",
                cause: error
            )
        }
        if let value, let reason = validation?.reasonToRefuse(value) {
            throw PreferencesError(
                .invalid,
                name: name,
                "the stored value is not allowed: \(reason); it stays as it is"
            )
        }
        return value
    }

    /// The first candidate that can be read, and what was wrong with those before it.
    func read(_ candidates: StoredCandidates, name: String) -> (value: Value?, problems: [PreferencesError]) {
        var problems: [PreferencesError] = []
        let value = candidates.firstResult { candidate in
            do throws(PreferencesError) {
                return try decode(candidate, name: name)
            } catch {
                problems.append(error)
                return nil
            }
        }
        return (value, problems)
    }

    /// As `read`, for those who must not take a default for a value: throws where a stored value can't be read.
    func readStrictly(_ candidates: StoredCandidates, name: String) throws(PreferencesError) -> Value? {
        let (value, problems) = read(candidates, name: name)
        if value == nil, let problem = problems.first { throw problem }
        return value
    }

    /// Whether a candidate answers for a name.
    func canRead(_ candidate: StoredCandidate, name: String) -> Bool {
        do throws(PreferencesError) { return try decode(candidate, name: name) != nil } catch { return false }
    }

    private func decode(_ candidate: StoredCandidate, name: String) throws(PreferencesError) -> Value? {
        guard candidate.isText, case .string(let text) = candidate.value else {
            return try decode(candidate.value, name: name)
        }
        let error: PreferencesError
        do throws(PreferencesError) {
            return try decode(candidate.value, name: name)
        } catch let first {
            error = first
        }
        for value in PropertyListValue.readings(of: text) {
            do throws(PreferencesError) {
                return try decode(value, name: name)
            } catch {
                continue
            }
        }
        throw PreferencesError(
            error.code,
            name: name,
            "\"\(text)\", from the layer \"\(candidate.layer ?? "")\", can't be taken: \(error.message)",
            codingPath: error.codingPath,
            cause: error.cause
        )
    }
}

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
