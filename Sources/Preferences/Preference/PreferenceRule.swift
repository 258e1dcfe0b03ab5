/// A rule of a preference, with its bounds in their stored form, as a page of settings or a schema shows it.
///
///     for rule in AnyPreference(player.$volume).rules { print(rule) }  // 0...10
public struct PreferenceRule: Sendable, Hashable {
    /// The kinds of rules.
    public enum Kind: Sendable, Hashable {
        /// The values between `minimum` and `maximum`, both included.
        case range
        /// The values of `choices`.
        case choices
        /// Values with a number of elements between `minimum` and `maximum`, both included.
        case length
        /// The values that a closure allows.
        case check
    }

    /// The kind of the rule.
    public let kind: Kind
    /// The minimum of a range in its stored form, or the minimum length; `nil` if the rule has none.
    public internal(set) var minimum: PropertyListValue?
    /// The maximum of a range in its stored form, or the maximum length; `nil` if the rule has none.
    public internal(set) var maximum: PropertyListValue?
    /// The allowed values in their stored form; empty for other kinds of rules.
    public internal(set) var choices: [PropertyListValue] = []
    /// The requirement that a `.check` states, such as "must be even"; empty for others.
    public internal(set) var requirement = ""
}

extension PreferenceRule: CustomStringConvertible {
    /// The rule in a few words, such as `0...10`; empty for the bounds of a secret.
    public var description: String {
        switch kind {
        case .range: bounds
        case .choices: choices.map { "\($0)" }.joined(separator: ", ")
        case .length: bounds.isEmpty ? "" : "length " + bounds
        case .check: requirement.isEmpty ? "checked by the program" : requirement
        }
    }

    private var bounds: String {
        // The rule of a secret has no bounds.
        if minimum == nil, maximum == nil { return "" }
        return "\(minimum.map { "\($0)" } ?? "")...\(maximum.map { "\($0)" } ?? "")"
    }
}

// MARK: The rules of a declaration

/// A rule of a declaration, without the type of its values.
class AnyRule: @unchecked Sendable {}  // its only subclass is immutable

/// A rule of a declaration.
final class Rule<Value: Sendable>: AnyRule, @unchecked Sendable {  // immutable
    enum Kind: Sendable {
        case range(minimum: Value?, maximum: Value?)
        case choices([Value])
        case length(Range<Int>)
        case check(String)
    }

    let kind: Kind
    private let reason: @Sendable (Value) -> String?

    init(_ kind: Kind, reason: @escaping @Sendable (Value) -> String?) {
        self.kind = kind
        self.reason = reason
    }

    /// Returns the reason to reject a value, or `nil` if it is allowed.
    func reasonToReject(_ value: Value) -> String? { reason(value) }

    /// Returns the rule without its type.
    ///
    /// - Parameter stored: Returns the stored form of a value, or `nil` if it can't be encoded: then no stored value can equal it.
    func untyped(_ stored: (Value) -> PropertyListValue?) -> PreferenceRule {
        switch kind {
        case .range(let minimum, let maximum):
            PreferenceRule(kind: .range, minimum: minimum.flatMap(stored), maximum: maximum.flatMap(stored))
        case .choices(let choices):
            PreferenceRule(kind: .choices, choices: choices.compactMap(stored))
        case .length(let lengths):
            PreferenceRule(
                kind: .length,
                minimum: .integer(Int64(lengths.lowerBound)),
                maximum: lengths.upperBound == .max ? nil : .integer(Int64(lengths.upperBound - 1))
            )
        case .check(let requirement):
            PreferenceRule(kind: .check, requirement: requirement)
        }
    }
}

/// The options of one declaration, combined; all copies of the preference share it.
package final class DeclaredOptions: Sendable {
    /// One option of a declaration.
    enum Option: Sendable {
        case rule(AnyRule)
        case description(String)
        case title(String)
        case section(String)
        case deprecated(String)
        case secret
        case required
        case short(Character)
        case formerly([String])
    }

    let rules: [AnyRule]
    let description: String?
    package let title: String?
    package let section: String?
    /// The advice for a deprecated preference, such as "set volume".
    package let deprecation: String?
    let isSecret: Bool
    let isRequired: Bool
    let short: Character?
    package let formerNames: [String]
    /// Whether an empty name was given as a former one.
    let hasEmptyFormerName: Bool
    /// The options that were given twice.
    let repeated: [String]

    /// Creates the combination of options; the last of each kind counts.
    init(_ options: some Sequence<Option>) {
        var rules: [AnyRule] = []
        var description, title, section, deprecation: String?
        var formerNames: [String]?
        var short: Character?
        var isSecret = false
        var isRequired = false
        var repeated: [String] = []
        func note(_ name: String, _ wasGiven: Bool) { if wasGiven { repeated.append(name) } }
        func set(_ text: inout String?, to new: String, _ name: String) {
            note(name, text != nil)
            text = new
        }
        for option in options {
            switch option {
            case .rule(let rule): rules.append(rule)
            case .description(let text): set(&description, to: text, "description")
            case .title(let text): set(&title, to: text, "title")
            case .section(let text): set(&section, to: text, "section")
            case .deprecated(let text): set(&deprecation, to: text, "deprecated")
            case .secret:
                note("secret", isSecret)
                isSecret = true
            case .required:
                note("required", isRequired)
                isRequired = true
            case .short(let name):
                note("short", short != nil)
                short = name
            case .formerly(let names):
                note("formerly", formerNames != nil)
                formerNames = names
            }
        }
        self.rules = rules
        self.description = description
        self.title = title
        self.section = section
        self.deprecation = deprecation
        self.isSecret = isSecret
        self.isRequired = isRequired
        self.short = short
        self.formerNames = formerNames?.filter { !$0.isEmpty } ?? []
        hasEmptyFormerName = formerNames?.contains("") ?? false
        self.repeated = repeated
    }

    /// Returns the reason of the first rule that rejects a value of the declaration, or `nil` if it is allowed.
    func reasonToReject<Value: Sendable>(_ value: Value) -> String? {
        for rule in rules {
            // An option has the type of the declaration's values.
            if let reason = unsafeDowncast(rule, to: Rule<Value>.self).reasonToReject(value) { return reason }
        }
        return nil
    }

    /// Whether reading a stored value may have to be reported, because the preference is deprecated or has former names.
    var reportsUse: Bool { deprecation != nil || !formerNames.isEmpty }

    /// The identity of what a read checks, which copies of a preference share; `nil` if every value is allowed and none is reported.
    var slotIdentity: ObjectIdentifier? { rules.isEmpty && !reportsUse ? nil : ObjectIdentifier(self) }

    /// The options of the same value under another name.
    var underAnotherName: DeclaredOptions {
        DeclaredOptions(rules.map { .rule($0) } + (isSecret ? [.secret] : []))
    }
}
