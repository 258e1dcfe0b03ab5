import Preferences

/// A name whose value differs between two sets of values.
struct Difference: Equatable {
    let name: String
    let old: PropertyListValue?
    let new: PropertyListValue?

    /// The difference that undoes this one.
    var reversed: Difference { Difference(name: name, old: new, new: old) }

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
            if let old = difference.old {
                text += ShownText("- \(name)\t\(try redaction.line(old, of: difference.name))", .red) + ShownText("\n")
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
    /// Returns an object with name, old and new; an absent value is left out.
    func json(_ redaction: Redaction, _ more: [String: PropertyListValue] = [:]) throws -> String {
        var members = more
        members["name"] = .string(name)
        members["old"] = old.map { redaction.shown($0, of: name) }
        members["new"] = new.map { redaction.shown($0, of: name) }
        members["isSecret"] = redaction.mark(name)
        return try ValueText.json(.dictionary(members))
    }
}

extension PreferenceStoreChange {
    /// The differences, in the order in which they are shown.
    var differences: [Difference] { Difference.between(old, new) }
}
