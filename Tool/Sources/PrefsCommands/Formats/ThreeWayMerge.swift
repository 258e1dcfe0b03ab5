import Preferences

/// The values of two sides that began with the same ones: what one side changed stands, and what both changed differently is a conflict.
///
/// Members of dictionaries are merged in the same way.
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
            } else if case (.dictionary(let our)?, .dictionary(let their)?) = (our, their) {
                var members: [String: PropertyListValue] = [:]
                if case .dictionary(let old)? = old { members = old }
                merged[name] = .dictionary(self.merged(members, our, their, at: path + [name]))
            } else {
                conflicts.append(path + [name])
                merged[name] = our
            }
        }
        return merged
    }
}
