/// A change of one preference, as `Preference.observe` tells it.
public struct PreferenceChange<Value: Sendable>: Sendable {
    /// The preference's name.
    public let name: String
    /// The value before; the default where none was stored or it could not be read.
    public let old: Value
    /// The value after; `Preference.value` may be newer already.
    public let new: Value
    /// Where the change came from.
    public let origin: PreferenceChangeOrigin
}

/// A change of a store: what one set, transaction or outside change did.
public struct PreferenceStoreChange: Sendable {
    /// The names whose stored values differ now.
    public let names: Set<String>
    /// The stored values before; a name that was absent is missing.
    public let old: [String: PropertyListValue]
    /// The stored values after; a name that was removed is missing.
    public let new: [String: PropertyListValue]
    /// Where the change came from.
    public let origin: PreferenceChangeOrigin

    init(
        names: Set<String>,
        old: [String: PropertyListValue],
        new: [String: PropertyListValue],
        origin: PreferenceChangeOrigin
    ) {
        self.names = names
        self.old = old
        self.new = new
        self.origin = origin
    }

    init(_ batch: ChangeBatch) {
        var old: [String: PropertyListValue] = [:]
        var new: [String: PropertyListValue] = [:]
        for entry in batch.entries {
            old[entry.name] = entry.old.first?.value
            new[entry.name] = entry.new.first?.value
        }
        self.init(names: Set(batch.entries.map(\.name)), old: old, new: new, origin: batch.origin)
    }
}
