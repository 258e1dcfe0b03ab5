/// A change of one preference, as passed to the closure of `Preference.observe`.
public struct PreferenceChange<Value: Sendable>: Sendable {
    /// The preference's name.
    public let name: String
    /// The value before the change; the default if none was stored or it couldn't be read.
    public let old: Value
    /// The value after the change; `Preference.value` may already be newer.
    public let new: Value
    /// The origin of the change.
    public let origin: PreferenceChangeOrigin
    /// Whether descriptions hide the values.
    let isSecret: Bool
}

extension PreferenceChange: CustomStringConvertible, CustomReflectable {
    /// The name, both values and the origin, as in `volume: 5 → 7 (local)`; `<redacted>` for the values of a secret.
    public var description: String { "\(name): \(shown(old)) → \(shown(new)) (\(origin))" }

    /// A mirror with the properties; `<redacted>` for the values of a secret.
    public var customMirror: Mirror {
        let values: [Any] = isSecret ? [String.redacted, String.redacted] : [old, new]
        return Mirror(
            self,
            children: ["name": name, "old": values[0], "new": values[1], "origin": origin],
            displayStyle: .struct
        )
    }

    private func shown(_ value: Value) -> String { isSecret ? .redacted : text(of: value) }
}

/// A change of a store: by one set, one transaction or one external change.
public struct PreferenceStoreChange: Sendable {
    /// The names whose stored values differ.
    public let names: Set<String>
    /// The stored values before the change, without the names that had none.
    public let old: [String: PropertyListValue]
    /// The stored values after the change, without the names that were removed.
    public let new: [String: PropertyListValue]
    /// The origin of the change.
    public let origin: PreferenceChangeOrigin
    /// The names whose values descriptions hide.
    private let secretNames: Set<String>

    package init(
        names: Set<String>,
        old: [String: PropertyListValue],
        new: [String: PropertyListValue],
        origin: PreferenceChangeOrigin,
        secretNames: Set<String> = []
    ) {
        self.names = names
        self.old = old
        self.new = new
        self.origin = origin
        self.secretNames = secretNames
    }

    /// Creates the change of a batch; `secretNames` returns those of the given names whose values are secrets.
    package init(_ batch: ChangeBatch, secretNames: ([String]) -> Set<String> = { _ in [] }) {
        var old: [String: PropertyListValue] = [:]
        var new: [String: PropertyListValue] = [:]
        let entries = batch.stored
        for entry in entries {
            old[entry.name] = entry.old.first?.value
            new[entry.name] = entry.new.first?.value
        }
        let names = entries.map(\.name)
        self.init(names: Set(names), old: old, new: new, origin: batch.origin, secretNames: secretNames(names))
    }
}

extension PreferenceStoreChange: CustomStringConvertible, CustomReflectable {
    /// Each name with both values, sorted, and the origin, as in `artist: nil → "Ella", volume: 5 → 7 (local)`; `<redacted>` for the
    /// values of a secret.
    public var description: String {
        let (old, new) = (shown(old), shown(new))
        let changes = names.sortedByBytes.map { "\($0): \(old[$0] ?? "nil") → \(new[$0] ?? "nil")" }
        return "\(changes.joined(separator: ", ")) (\(origin))"
    }

    /// A mirror with the properties; `<redacted>` for the values of a secret.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["names": names, "old": shown(old), "new": shown(new), "origin": origin],
            displayStyle: .struct
        )
    }

    private func shown(_ values: [String: PropertyListValue]) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: values.map { ($0, secretNames.contains($0) ? .redacted : $1.description) }
        )
    }
}
