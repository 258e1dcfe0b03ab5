internal import Preferences

/// The change of one name in a draft.
struct DraftEdit: Sendable {
    /// A preference that was set, and its value before.
    struct Understood {
        let preference: DeclaredChecks.Preference
        /// The names under which the preference is read, too.
        let formerNames: [String]
        /// The form of what the program understood of the stored value, or of the default.
        let shown: PropertyListValue?
        /// That stored value, which may be a weaker layer's.
        let stored: PropertyListValue?
    }

    private let new: PropertyListValue?
    /// The preference, unless the value was set by name.
    private let preference: DeclaredChecks.Preference?
    /// The name and the former ones.
    let names: [String]
    /// The value that `new` is compared with: that at the first edit, with what others have changed besides since; nil if there was none, or
    /// it wasn't known.
    private var base: PropertyListValue?
    /// The stored value at the last edit; as long as it is stored, `new` takes its place.
    private var replaced: PropertyListValue?
    /// Distinguishes the edit from others of the name.
    let number: Int
    /// The values that the running calls of `apply()` store, of this edit or of one that this edit has replaced since.
    private var applied: [Applied] = []

    private struct Applied {
        /// The number of the `apply()`.
        let attempt: Int
        let value: PropertyListValue?
        let isOfThisEdit: Bool
    }

    /// Creates an edit of a name.
    ///
    /// - Parameters:
    ///   - understood: The preference and its value before; nil if the name is set.
    ///   - names: The name and the former ones.
    ///   - earlier: The edit that this one replaces.
    ///   - stored: The stored value under the first of the names that has one.
    init(
        _ new: PropertyListValue?,
        of names: [String],
        over understood: Understood?,
        after earlier: DraftEdit?,
        _ stored: PropertyListValue?
    ) {
        self.new = new
        self.names = names
        preference = understood?.preference
        number = (earlier?.number ?? 0) + 1
        applied = (earlier?.applied ?? []).map { Applied(attempt: $0.attempt, value: $0.value, isOfThisEdit: false) }
        replaced = stored
        base = stored
        if let understood, let new, let shown = understood.shown {
            base = inTrees(new, [new, shown, understood.stored]) { Self.understood($0[0], $0[1], $0[2]) }
        }
        guard let earlier else { return }
        let known = earlier.base(in: stored)
        base = inTrees(new ?? earlier.new, [earlier.new, known, base, new]) { Self.base($0[0], $0[1], $0[2], $0[3]) }
    }

    /// Records what an `apply()` stores of the edit with the number.
    mutating func note(_ value: PropertyListValue?, in attempt: Int, of number: Int) {
        applied.removeAll { $0.attempt == attempt }
        applied.append(Applied(attempt: attempt, value: value, isOfThisEdit: number == self.number))
    }

    /// Returns what is left of the edit at the end of an `apply()`.
    func rest(after attempt: Int, isApplied: Bool) -> DraftEdit? {
        guard let index = applied.firstIndex(where: { $0.attempt == attempt }) else { return self }
        var rest = self
        let applied = rest.applied.remove(at: index)
        if isApplied { (rest.base, rest.replaced) = (applied.value, applied.value) }
        return isApplied && applied.isOfThisEdit ? nil : rest
    }

    /// Returns the value to store over the stored one, which is that under the first of the names that has one.
    @inline(never)
    func joined(to stored: PropertyListValue?) -> PropertyListValue? {
        // Stored by `apply()`, which is about to end.
        if let applied = applied.last(where: { $0.value == stored }) { return applied.isOfThisEdit ? stored : new }
        guard let new, let stored, stored != replaced, let base = base(in: stored) else { return new }
        if let preference { return preference.merge(new, base, stored) }
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
        guard let form = preference?.form, form.isJSON, let new else { return body(values) }
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
