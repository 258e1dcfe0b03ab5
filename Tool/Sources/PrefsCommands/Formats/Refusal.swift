import Preferences

/// A value that the schema doesn't allow, and the reason.
struct Refusal {
    /// The steps from the name to the part of the value that isn't allowed.
    private var steps: [Step] = []
    /// The part of the value; `nil` for a secret, which isn't shown.
    private let value: PropertyListValue?
    private let reason: Reason

    private enum Step {
        case name(String)
        case index(Int)
    }

    enum Reason {
        case unallowed(String)
        case undeclared(nearest: String?)
        case former(of: String)
    }

    init(_ reason: Reason, _ value: PropertyListValue?) {
        self.value = value
        self.reason = reason
    }

    func inside(_ name: String) -> Refusal { inside(.name(name)) }
    func inside(_ index: Int) -> Refusal { inside(.index(index)) }

    private func inside(_ step: Step) -> Refusal {
        var refusal = self
        refusal.steps.insert(step, at: 0)
        return refusal
    }

    /// Whether the schema doesn't declare the name.
    var isUndeclared: Bool {
        if case .undeclared = reason { true } else { false }
    }

    /// Whether the name isn't allowed, not the value.
    var isOfName: Bool {
        if case .unallowed = reason { false } else { true }
    }

    /// Returns the reason as text, such as `"recent"[2] can't be 5: it isn't of type string`.
    func text(by schema: String? = nil) throws -> String {
        switch reason {
        case .unallowed(let reason):
            "\(place) can't be \(try value.map { try ValueText.json($0) } ?? ValueText.redacted): \(reason)"
                + (schema.map { ", according to \($0)" } ?? "")
        case .undeclared(let nearest):
            "\(place) isn't declared\(schema.map { " by \($0)" } ?? "")"
                + (nearest.map { "; did you mean \"\(prefix + $0)\"?" } ?? "")
        case .former(let name):
            "\(place) is a former name of \"\(name)\"\(schema.map { ", according to \($0)" } ?? ""); use \"\(name)\" instead"
        }
    }

    /// The names in quotes, separated by dots, and the steps from the first array on after them.
    private var place: String {
        var text = "\""
        var isQuoted = true
        for (number, step) in steps.enumerated() {
            switch step {
            case .name(let name): text += (number == 0 ? "" : ".") + name
            case .index(let index):
                text += (isQuoted ? "\"" : "") + "[\(index)]"
                isQuoted = false
            }
        }
        return isQuoted ? text + "\"" : text
    }

    /// The steps before the last name.
    private var prefix: String {
        steps.dropLast().map { step in
            switch step {
            case .name(let name): "\(name)."
            case .index(let index): "[\(index)]."
            }
        }.joined()
    }
}
