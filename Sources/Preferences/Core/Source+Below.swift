internal import CPreferences
internal import Synchronization

// The parts of sources that a backend over another store, such as a draft's, uses: of those below, and of its own.

extension Source {
    package var place: String { backend.place }
    package var longestWait: Duration { backend.timeout }
    package var isWritable: Bool { isOpen && backend.isWritable }
    package var locked: [String: PreferenceError] { own?.locked ?? [:] }
    package func describe(_ name: String?) -> StoredPlace { own?.describe(name) ?? StoredPlace() }

    /// The names with a value that isn't stored yet.
    package var keptNames: [String] { publishing.withLock { keptEntries.map(\.name) } }

    /// The value that is shown.
    package func value(of name: String) -> PropertyListValue? { publishing.withLock { table[name] } }

    /// The value that is stored, as far as it was read; another one may be shown that is to be stored.
    package func storedValue(of name: String) -> PropertyListValue? {
        publishing.withLock { table.entry(name).flatMap { $0.kept.map(\.stored) ?? $0.value } }
    }

    /// The values that updates read and stores don't show.
    package var unshownValues: [String: PropertyListValue?] { publishing.withLock { unshown } }

    /// Notes what updates read and stores don't show, and notifies those who read what is stored, such as whether a preference is set.
    package func noteUnshown(_ values: [String: PropertyListValue?]) {
        var effects = Effects()
        let replaced = publishing.withLock {
            for name in Set(unshown.keys).union(values.keys) where unshown[name] != values[name] {
                for (node, _) in table.entry(name)?.nodes ?? [] where node.usesWeaker { effects.note(node) }
            }
            return exchange(&unshown, with: values)
        }
        withExtendedLifetime(replaced) {}
        effects.run(self, preferences_state())
    }

    /// Stores what is kept, runs `body` in the turn, and then shows what the backend has to show, also if `body` throws.
    package func withTurn(
        until deadline: PreferenceDeadline,
        _ body: (PreferenceDeadline) throws -> Void
    ) throws {
        try inTurn(until: deadline) { effects, deadline in
            try open(until: deadline, &effects)
            if hasKept.load(ordering: .relaxed) { try store(until: deadline, &effects) { _ in ([], 0) } }
            do { try body(deadline) } catch {
                try catchUp(until: deadline, &effects)
                throw error
            }
            try catchUp(until: deadline, &effects)
        }
    }

    /// Runs a call of a task as the forms of a store do.
    package nonisolated(nonsending) func perform<Result: Sendable>(
        _ body: @escaping @Sendable (PreferenceDeadline) throws -> Result
    ) async throws -> Result {
        try Self.checkCancellation()
        var timeout = timeout
        return try await perform(until: timeout.start(), body)
    }
}

extension Node {
    /// Opens the layers, and asks keyed ones for the name.
    package func prepare() { core.prepare(.node(self)) }

    /// The name and the former names in each layer, as its source has them.
    package var keys: [(layer: Int, name: String)] {
        let names = [name] + core.declaredFormerNames(of: name)
        return core.layers.enumerated().flatMap { index, layer in names.map { (index, layer.key($0)) } }
    }

    /// Returns the candidates if `value` returns the values that the layers' sources have.
    package func candidates(_ value: (_ layer: Int, _ name: String) -> PropertyListValue?) -> [Candidate] {
        let keys = keys
        let nameCount = keys.count / max(1, core.layers.count)
        return keys.enumerated().compactMap { index, key in
            value(key.layer, key.name).map { Candidate(value: $0, layer: key.layer, name: index % nameCount) }
        }
    }
}

extension StoreCore {
    /// Changes the writable layer by what `body` returns, which runs in its turn.
    package func change(until deadline: PreferenceDeadline, _ body: () throws -> [StoredChange]) throws {
        try change(until: deadline) { (_: inout Effects) in try body() }
    }
}
