import Preferences
import PreferencesInspection

/// The values of two sides that began with the same ones: what one side changed stands, and what both changed differently is a conflict.
///
/// Members of dictionaries are merged in the same way, except those of a stored `nil` or of a form of a newer version.
struct ThreeWayMerge {
    private(set) var contents: [String: PropertyListValue]
    /// The paths of the values that both sides changed differently, in order; this side's values are in `contents`.
    private(set) var conflicts: [[String]] = []

    init(
        base: [String: PropertyListValue],
        ours: [String: PropertyListValue],
        theirs: [String: PropertyListValue]
    ) {
        contents = [:]
        contents = merged(base, ours, theirs, at: [])
    }

    private mutating func merged(
        _ base: [String: PropertyListValue],
        _ ours: [String: PropertyListValue],
        _ theirs: [String: PropertyListValue],
        at path: [String]
    ) -> [String: PropertyListValue] {
        var merged: [String: PropertyListValue] = [:]
        let names = Set(ours.keys).union(theirs.keys).union(base.keys)
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let (old, our, their) = (base[name], ours[name], theirs[name])
            if our == their || their == old {
                merged[name] = our
            } else if our == old {
                merged[name] = their
            } else if let our = our.flatMap(Self.members), let their = their.flatMap(Self.members), !Self.isWhole(old) {
                let members = old.flatMap(Self.members) ?? [:]
                merged[name] = .dictionary(self.merged(members, our, their, at: path + [name]))
            } else {
                conflicts.append(path + [name])
                merged[name] = our
            }
        }
        return merged
    }

    /// Returns the members of an ordinary dictionary, which can be merged one by one.
    private static func members(_ value: PropertyListValue) -> [String: PropertyListValue]? {
        guard PreferenceText.hasMembers(value), case .dictionary(let members) = value else { return nil }
        return members
    }

    /// Returns whether a value is a dictionary, but not an ordinary one.
    private static func isWhole(_ value: PropertyListValue?) -> Bool {
        guard let value, case .dictionary = value else { return false }
        return !PreferenceText.hasMembers(value)
    }
}
