internal import Preferences

/// The draft of one store.
final class DraftPart: Sendable {
    private let original: PreferenceStore
    /// Nil if the original store has no writable layer.
    private let writable: (backend: DraftBackend, source: Source)?

    private init(_ original: PreferenceStore, _ writable: (backend: DraftBackend, source: Source)?) {
        (self.original, self.writable) = (original, writable)
    }

    /// Returns the draft of a store, and the store that shows it.
    static func make(of original: PreferenceStore, _ standIns: StandIns) -> (DraftPart, PreferenceStore) {
        let writable = original.core.writable.map { layer in
            let backend = DraftBackend(over: layer, of: original)
            let source = Source(backend)
            backend.begin(with: source)
            return (backend: backend, source: source)
        }
        let layers = original.asLayers.enumerated().map { index, layer in
            index == original.core.base ? writable.map { layer.replaced(by: $0.source) } ?? layer : layer
        }
        let store = PreferenceStore(
            layers,
            issues: original.core.issues,
            scope: original.core.scope,
            secrecy: original.core.secrecy,
            standIns: standIns,
            rules: writable.map { writable in RuleKeeper(original) { writable.backend.note($1, of: $0) } }
        )
        return (DraftPart(original, writable), store)
    }

    var deadline: PreferenceDeadline { writable?.source.timeout ?? .now }

    /// The names that `apply()` would change, with the values before and after.
    var differences: [(name: String, old: PropertyListValue?, new: PropertyListValue?)] {
        guard let (backend, source) = writable else { return [] }
        return backend.editedNames.union(source.keptNames).compactMap { name in
            let (old, new) = (backend.original(name), source.value(of: name))
            return old == new ? nil : (name, old, new)
        }
    }

    func isSecret(_ name: String) -> Bool { original.core.isSecret(name) }

    /// Stores the edits, merged into what is stored now, in a transaction of the original store; returns the names.
    func apply(until deadline: PreferenceDeadline) throws -> [String] {
        guard let (backend, source) = writable, !backend.editedNames.isEmpty || !source.keptNames.isEmpty else {
            return []
        }
        var names: [String] = []
        try source.withTurn(until: deadline) { deadline in
            try original.core.change(until: deadline) {
                let changes = try backend.changes()
                names = changes.map(\.name)
                return changes
            }
            backend.removeEdits()
        }
        return names
    }

    nonisolated(nonsending) func apply() async throws -> [String] {
        guard let source = writable?.source else { return [] }
        return try await source.perform { try self.apply(until: $0) }
    }

    func revert() {
        guard let (backend, source) = writable else { return }
        do { try source.withTurn(until: source.timeout) { _ in backend.removeEdits() } } catch {
            original.report(PreferenceError(.unavailable, from: error))
        }
    }
}
