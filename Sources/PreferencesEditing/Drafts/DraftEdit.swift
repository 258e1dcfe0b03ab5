internal import Preferences

/// The change of one name in a draft.
struct DraftEdit: Sendable {
    let new: PropertyListValue?
    /// The rules of the preference, unless the value was set by name.
    private let rules: (any DeclaredRules)?
    /// The name and the former ones.
    let names: [String]
    /// The stored value of the name itself, as the draft has last read it.
    var stored: PropertyListValue?
    /// The value that `new` is compared with: that at the first edit, with what others have changed besides since; nil if there was none, or
    /// it wasn't known.
    private var base: PropertyListValue?
    /// The stored value at the last edit; as long as it is stored, `new` takes its place.
    private var replaced: PropertyListValue?

    /// Creates an edit of a name.
    ///
    /// - Parameters:
    ///   - own: The stored values under the name and the former names.
    ///   - rules: The rules of the preference; nil if the name is set.
    ///   - earlier: The edit that this one replaces.
    init(
        _ new: PropertyListValue?,
        of names: [String],
        over own: [PropertyListValue?],
        _ rules: (any DeclaredRules)?,
        after earlier: DraftEdit?
    ) {
        (self.new, self.names, self.rules, stored) = (new, names, rules, own[0])
        let stored = own.first { $0 != nil } ?? nil
        (replaced, base) = (stored, stored)
        if let rules, let new, case let (shown?, understood) = rules.understood(over: own) {
            base = inTrees(new, [new, shown, understood]) { Self.understood($0[0], $0[1], $0[2]) }
        }
        guard let earlier else { return }
        let known = earlier.base(in: stored)
        base = inTrees(new ?? earlier.new, [earlier.new, known, base, new]) { Self.base($0[0], $0[1], $0[2], $0[3]) }
    }

    /// Returns the value to store over the stored one, which is that under the first of the names that has one.
    func joined(to stored: PropertyListValue?) -> PropertyListValue? {
        guard let new, let stored, stored != replaced, let base = base(in: stored) else { return new }
        if let rules { return rules.merged(new, base, into: stored) }
        guard new.hasParts(as: base), new.hasParts(as: stored) else { return new }
        var merge = ValueMerge()
        merge.isBaseOther = true
        return merge.merged(new, base, into: stored) { _ in true }
    }

    /// Returns what the edit is compared with; of an edit over nothing, over which others have stored a value since, with the parts that
    /// both have, so that neither's are lost or doubled.
    private func base(in stored: PropertyListValue?) -> PropertyListValue? {
        guard replaced == nil, let new, let stored else { return base }
        return inTrees(new, [new, base, stored]) { trees in
            guard let new = trees[0], let stored = trees[2] else { return trees[1] }
            return new.parts(besides: trees[1], in: stored)
        }
    }

    /// Returns what `body` returns for values, which for a coding of JSON are those in the texts, as `new` is.
    private func inTrees(
        _ new: PropertyListValue?,
        _ values: [PropertyListValue?],
        _ body: ([PropertyListValue?]) -> PropertyListValue?
    ) -> PropertyListValue? {
        guard let form = rules?.form, form.isJSON, let new else { return body(values) }
        guard let tree = body(values.map { $0.flatMap(form.tree) }) else { return nil }
        do { return try form.form(of: tree, like: new) } catch { return nil }
    }

    /// Returns what a set value is compared with: of each member what is stored, or if it isn't, what was shown in its place.
    private static func understood(
        _ new: PropertyListValue?,
        _ shown: PropertyListValue?,
        _ stored: PropertyListValue?
    ) -> PropertyListValue? {
        guard case .dictionary(let members) = new, case .dictionary(let shown) = shown, !(stored?.isUnset ?? false)
        else {
            return stored.flatMap { $0.isUnset ? nil : $0 } ?? shown
        }
        let known: [String: PropertyListValue]
        switch stored {
        case .dictionary(let members): known = members
        case nil: known = [:]
        default: return stored
        }
        var all = known
        for (name, value) in members { all[name] = understood(value, shown[name], known[name]) }
        return .dictionary(all)
    }

    /// Returns the base of an edit that was shown over a newer stored value, and is edited again.
    ///
    /// Members that the draft has not edited follow the stored value: one that another program has added since isn't an edit of the draft.
    /// One that is set back to what it was before takes the place of what others have stored since.
    private static func base(
        _ earlier: PropertyListValue?,
        _ base: PropertyListValue?,
        _ stored: PropertyListValue?,
        _ new: PropertyListValue?
    ) -> PropertyListValue? {
        if earlier == base { return stored }
        switch (earlier, base, stored) {
        case (.dictionary(let earlier), .dictionary(let base), .dictionary(let stored)):
            var (members, set) = ([String: PropertyListValue](), [String: PropertyListValue]())
            if case .dictionary(let members) = new { set = members }
            for name in Set(earlier.keys).union(base.keys).union(stored.keys) {
                members[name] = self.base(earlier[name], base[name], stored[name], set[name])
            }
            return .dictionary(members)
        case (.array, .array, .array): return stored
        default: return new == base ? stored : base
        }
    }
}

extension PropertyListValue {
    /// Returns the parts of a value that `base` or another value has, too; nil if they can't be compared.
    fileprivate func parts(besides base: PropertyListValue?, in other: PropertyListValue) -> PropertyListValue? {
        switch (self, other) {
        case (.dictionary(let members), .dictionary(let others)) where !isUnset && !other.isUnset:
            var known: [String: PropertyListValue] = [:]
            if case .dictionary(let members) = base { known = members }
            let parts = members.compactMap { name, value -> (String, PropertyListValue)? in
                guard let other = others[name] else { return nil }
                if value == other, known[name] == nil { return (name, value) }
                return value.parts(besides: known[name], in: other).map { (name, $0) }
            }
            return .dictionary(known.merging(parts) { $1 })
        case (.array(let elements), .array(let others)):
            var known: [PropertyListValue] = []
            if case .array(let elements) = base { known = elements }
            var (counts, left) = (Self.counts(of: known), Self.counts(of: others))
            for element in known { _ = Self.take(element, from: &left) }
            let parts = elements.filter { Self.take($0, from: &counts) || Self.take($0, from: &left) }
            // With those that were removed.
            return .array(parts + known.filter { Self.take($0, from: &counts) })
        default: return base
        }
    }

    @inline(never)
    private static func counts(of elements: [PropertyListValue]) -> [PropertyListValue: Int] {
        elements.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    /// Counts one of equal elements less; returns false if none is left.
    @inline(never)
    private static func take(_ element: PropertyListValue, from counts: inout [PropertyListValue: Int]) -> Bool {
        guard let count = counts[element], count > 0 else { return false }
        counts[element] = count - 1
        return true
    }

    /// Returns whether both are dictionaries or both lists, so that they can be merged.
    fileprivate func hasParts(as other: PropertyListValue) -> Bool {
        switch (self, other) {
        case (.dictionary, .dictionary): !isUnset && !other.isUnset
        case (.array, .array): true
        default: false
        }
    }
}
