/// The changes that were made while the backend could not be opened, until it has stored them.
///
/// Only forms that can't throw leave changes here. Whoever calls a throwing form is told that nothing was changed.
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

    /// Adds changes; returns whether any of the names was not kept before.
    mutating func add(_ changes: ValueChanges, of owner: Owner?) -> Bool {
        let before = entries.count
        changes.forEach { name, value in
            if let entry = entries[name] {
                // What the first set replaced remains the base; a value that was removed in between is replaced.
                let isRemoved = entry.value?.isUnset ?? true
                entries[name] = Entry(value: value, owner: isRemoved ? nil : entry.owner)
            } else {
                entries[name] = Entry(value: value, owner: owner?.name == name ? owner : nil)
            }
        }
        return entries.count > before
    }

    /// Returns the changes to store over the stored values.
    func changes(over stored: [String: PropertyListValue]) -> [String: PropertyListValue?] {
        entries.mapValues { entry in
            guard let owner = entry.owner, let kept = entry.value, !kept.isUnset,
                let stored = ([owner.name] + owner.formerNames).lazy.compactMap({ stored[$0] }).first
            else { return entry.value }
            return owner.merge(kept, stored)
        }
    }
}
