import Preferences
import PreferencesInspection

/// A name whose value differs between two sets of values.
struct Difference: Equatable {
    let name: String
    let old: PropertyListValue?
    let new: PropertyListValue?
    /// Whether a value is stored before it that can't be decoded; `old` is `nil` then.
    var isOldUnreadable = false
    /// Whether a value is stored after it that can't be decoded; `new` is `nil` then.
    var isNewUnreadable = false

    /// The difference that undoes this one.
    var reversed: Difference {
        Difference(name: name, old: new, new: old, isOldUnreadable: isNewUnreadable, isNewUnreadable: isOldUnreadable)
    }

    /// The difference between what a program reads before and after it; `nil` if that is the same, as for a default and `nil`.
    var ofRead: Difference? {
        let read = Difference(
            name: name,
            old: old?.unlessUnset,
            new: new?.unlessUnset,
            isOldUnreadable: isOldUnreadable,
            isNewUnreadable: isNewUnreadable
        )
        return read.old == read.new && isOldUnreadable == isNewUnreadable ? nil : read
    }

    static func between(
        _ old: [String: PropertyListValue],
        _ new: [String: PropertyListValue]
    ) -> [Difference] {
        Set(old.keys).union(new.keys)
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .filter { old[$0] != new[$0] }
            .map { Difference(name: $0, old: old[$0], new: new[$0]) }
    }

    /// Returns a line for each old value and one for each new value.
    static func text(_ differences: [Difference], _ redaction: Redaction) throws -> ShownText {
        var text = ShownText("")
        for difference in differences {
            let name = ValueText.name(difference.name)
            if difference.isOldUnreadable {
                text += ShownText("- \(name)\ta value that can't be read", .red) + ShownText("\n")
            }
            if let old = difference.old {
                text += ShownText("- \(name)\t\(try redaction.line(old, of: difference.name))", .red) + ShownText("\n")
            }
            if difference.isNewUnreadable {
                text += ShownText("+ \(name)\ta value that can't be read", .green) + ShownText("\n")
            }
            if let new = difference.new {
                text +=
                    ShownText("+ \(name)\t\(try redaction.line(new, of: difference.name))", .green) + ShownText("\n")
            }
        }
        return text
    }
}

extension Difference {
    /// Returns an object with name, old and new; an absent value is left out, and so is one that can't be read, which a member says.
    func json(_ redaction: Redaction, _ more: [String: PropertyListValue] = [:]) throws -> String {
        var members = more
        members["name"] = .string(name)
        members["old"] = old.map { redaction.shown($0, of: name) }
        members["new"] = new.map { redaction.shown($0, of: name) }
        if isOldUnreadable { members["isOldUnreadable"] = true }
        if isNewUnreadable { members["isNewUnreadable"] = true }
        members["isSecret"] = redaction.mark(name)
        return try ValueText.json(.dictionary(members))
    }
}

extension PreferenceStoreChange {
    /// The differences, in the order in which they are shown.
    var differences: [Difference] { Difference.between(old, new) }
}
