#if canImport(SwiftUI)
internal import Preferences
internal import Foundation

/// How a text field writes numbers: with the user's decimal separator, all digits, and no groups.
struct FieldNumber {
    private let decimal: Character
    private let grouping: Character?

    init(_ locale: Locale = .current) {
        decimal = locale.decimalSeparator?.first ?? "."
        grouping = locale.groupingSeparator?.first
    }

    /// Returns the text of a number; nil for other values.
    ///
    /// - Parameter isFloat: Whether the type is `Float`, which the stored number has more digits than.
    func text(of form: PropertyListValue, isFloat: Bool) -> String? {
        switch form {
        case .real(let value) where isFloat && value.isFinite: localized("\(Float(value))")
        case .real(let value) where value.isFinite: localized("\(value)")
        case .integer, .unsigned: localized(form.fieldText)
        default: nil
        }
    }

    private func localized(_ text: String) -> String { text.replacing(".", with: String(decimal)) }

    /// Returns a typed number in the form that Swift reads, or the text if it is none.
    ///
    /// A separator of groups counts as one only between groups of three digits, the first of which doesn't begin with a zero: so "1.5" is
    /// not 15, and "0.125" not 125, where people write "1,5".
    func plain(_ text: String) -> String {
        let text = String(
            text.filter { !$0.isWhitespace }.map { typed in
                // A sign that keyboards of some languages write.
                if typed == "\u{2212}" { return "-" }
                return typed.isASCII ? typed : typed.wholeNumberValue.flatMap { "\($0)".first } ?? typed
            }
        )
        let parts = text.split(separator: decimal, maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first else { return text }
        let groups = whole.split(omittingEmptySubsequences: false, whereSeparator: isGrouping)
        let first = groups[0].drop { "+-".contains($0) }
        let isGrouped =
            (1...3).contains(first.count) && first.allSatisfy(\.isNumber) && first.first != "0"
            && groups.dropFirst().allSatisfy { $0.count == 3 && $0.allSatisfy(\.isNumber) }
        guard groups.count == 1 || isGrouped else { return text }
        return ([groups.joined()] + parts.dropFirst().map { String($0) }).joined(separator: ".")
    }

    private func isGrouping(_ typed: Character) -> Bool {
        // Keyboards don't have the apostrophe that some languages group with.
        typed == grouping || typed == "'" && grouping == "\u{2019}"
    }
}
#endif
