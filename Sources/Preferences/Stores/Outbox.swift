/// The changes that were made while the backend could not be opened, until it has stored them.
///
/// Only forms that can't throw leave changes here. A form that can throw throws, and changes nothing.
struct Outbox {
    /// Returns the form to store, of a kept one and the one that is stored by then.
    typealias Merge = @Sendable (_ kept: PropertyListValue, _ stored: PropertyListValue) -> PropertyListValue

    /// The preference whose value is kept, with the names as the source has them.
    struct Owner {
        let name: String
        let formerNames: [String]
        let merge: Merge
    }

    private struct Entry {
        var value: PropertyListValue?
        /// The preference, if the value is merged into the stored one.
        var owner: Owner?
    }

    private var entries: [String: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// The names whose values are kept.
    var names: Set<String> { Set(entries.keys) }

    /// The parts of one name each.
    var parts: [Outbox] {
        entries.map { name, entry in
            var part = Outbox()
            part.entries[name] = entry
            return part
        }
    }

    /// Adds changes; returns whether any of the names was not kept before.
    mutating func add(_ changes: ValueChanges, of owner: Owner?) -> Bool {
        let before = entries.count
        changes.forEach { name, value in
            var new = Entry(value: value, owner: owner?.name == name ? owner : nil)
            if let entry = entries[name], new.owner != nil {
                // What the first set replaced remains the base. A value that was set by name, or removed, was replaced as a whole.
                new.owner = entry.value?.isUnset ?? true ? nil : entry.owner
            }
            entries[name] = new
        }
        return entries.count > before
    }

    /// Returns the part whose values are those of the source.
    func shown(in values: StoredValues) -> Outbox {
        var shown = self
        shown.entries = entries.filter { values[$0.key] == $0.value.value }
        return shown
    }

    /// Returns the condition that the values that are merged into are stored.
    func condition(over stored: [String: PropertyListValue]) -> PreferenceCondition {
        var condition = PreferenceCondition.none
        for (name, entry) in entries {
            for name in [name] + (entry.owner?.formerNames ?? []) {
                condition.values.updateValue(stored[name], forKey: name)
            }
        }
        condition.isOfMerge = true
        return condition
    }

    /// Returns the changes to store over the stored values.
    func changes(over stored: [String: PropertyListValue]) -> [String: PropertyListValue?] {
        entries.mapValues { entry in
            guard let owner = entry.owner, let kept = entry.value, !kept.isUnset,
                let stored = ([owner.name] + owner.formerNames).lazy.compactMap({ stored[$0] }).first, !stored.isUnset
            else { return entry.value }
            return owner.merge(kept, stored)
        }
    }
}
