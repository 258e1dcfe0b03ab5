/// How a declared preference reads, merges and checks stored values, without its type: what a draft does with the values that were set in it.
package protocol DeclaredRules: AnyObject, Sendable {
    /// How the members of its values are stored.
    var form: CodedForm { get }

    /// The names under which it is read, too.
    var formerNames: [String] { get }

    /// Returns the form of what the program understands of a stored value, or else of the default, and that stored value.
    ///
    /// - Parameter own: The values of the writable layer under the name and the former names. Below them are those of weaker layers.
    func understood(over own: [PropertyListValue?]) -> (shown: PropertyListValue?, stored: PropertyListValue?)

    /// Returns a value merged into a stored one of which the program understands something else than `base`; the value itself if it
    /// understands nothing of it.
    func merged(_ new: PropertyListValue, _ base: PropertyListValue, into stored: PropertyListValue)
        -> PropertyListValue

    /// Throws if it can't have a stored value, or if its rules forbid it.
    func check(_ stored: PropertyListValue) throws(PreferenceError)
}

/// Gets the rules of all preferences that are declared in a store.
package struct RuleKeeper: Sendable {
    /// The store in which they are declared, too, so that the keeper doesn't keep its own store.
    let store: PreferenceStore
    let note: @Sendable (_ name: String, any DeclaredRules) -> Void

    package init(_ store: PreferenceStore, _ note: @escaping @Sendable (_ name: String, any DeclaredRules) -> Void) {
        (self.store, self.note) = (store, note)
    }

    func scoped(_ prefix: String) -> RuleKeeper {
        RuleKeeper(store.scoped(prefix: prefix)) { [note] name, rules in note(prefix + name, rules) }
    }
}

extension PreferenceDeclaration: DeclaredRules {
    package var form: CodedForm { coding.form }

    package var formerNames: [String] { store.core.declaredFormerNames(of: name) }

    package func understood(
        over own: [PropertyListValue?]
    ) -> (shown: PropertyListValue?, stored: PropertyListValue?) {
        let core = store.core
        let weaker = core.publishing.withLock { node.candidates(from: core.base + 1) }
        let values = own.enumerated().compactMap { index, value in
            value.map { Candidate(value: $0, layer: core.base, name: index) }
        }
        let understandable = understandable(values + weaker)
        do {
            return (try encodeUnchecked(understandable?.0 ?? makeDefault(), isStored: true), understandable?.1)
        } catch {
            return (nil, understandable?.1)
        }
    }

    package func merged(
        _ new: PropertyListValue,
        _ base: PropertyListValue,
        into stored: PropertyListValue
    ) -> PropertyListValue {
        guard !new.isUnset, !stored.isUnset, dependsOnStored(new),
            let (_, _, reader) = understand(stored, isText: false, ignoringRules: true)
        else { return new }
        return merged(new, base, into: stored, reader, isBaseOther: true)
    }

    package func check(_ stored: PropertyListValue) throws(PreferenceError) {
        var parts: [EvolvingProblem] = []
        if stored.isUnset {
            if isRequired { throw missing }
            return
        }
        if let value = try decodeUnchecked(stored, &parts) { _ = try encode(value) }
    }
}
