public import Preferences

/// Returns a table of a group's preferences: name and value with the value's source, rule, and description.
public func settingsReport(of group: some PreferenceGroup) -> String {
    group.preferences
        .map { [$0.description, $0.rules.map(\.description).joined(separator: ", "), $0.declaredDescription ?? ""] }
        .map { $0.filter { !$0.isEmpty }.joined(separator: "\t") }
        .joined(separator: "\n")
}
