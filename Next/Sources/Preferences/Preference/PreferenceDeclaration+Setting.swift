// How a preference sets, writes and removes a value.

extension PreferenceDeclaration {
    /// Returns the form that a set stores whatever is stored; nil if it depends on that.
    private func plainForm(of value: Value) throws(PreferenceError) -> PropertyListValue? {
        guard member == nil else { return nil }
        let new = try encode(value)
        return dependsOnStored(new) ? nil : new
    }

    /// The changes that set a value, in the turn; what is stored can't change meanwhile.
    private func changes(to value: Value) throws(PreferenceError) -> [Change] {
        store.core.changes(of: node, to: try encode(value, over: own()))
    }

    /// Sets a value for a property; throws what is to be reported.
    func set(_ value: Value) throws(PreferenceError) {
        if let store = store.isolated { return try bound(to: store).set(value) }
        let core = store.core
        let error: PreferenceError?
        if let form = try plainForm(of: value) {
            error = core.set(core.changes(of: node, to: form))
        } else {
            error = core.set { try changes(to: value) }
        }
        if let error { throw error }
        if core.base > 0 { reportHidden() }
    }

    /// Stores a value; waits while the store is in use.
    func write(_ value: Value) throws(PreferenceError) {
        let core = store.core
        let form = try plainForm(of: value)
        do {
            if let form {
                try core.write(core.changes(of: node, to: form))
            } else {
                try core.change(until: core.deadline) { _ in try changes(to: value) }
            }
        } catch {
            throw PreferenceError(.unavailable, from: error).named(name)
        }
        if core.base > 0 { reportHidden() }
    }

    /// Stores a value; the task is suspended when that has to wait.
    nonisolated(nonsending) func write(_ value: Value) async throws(PreferenceError) {
        let core = store.core
        let form = try plainForm(of: value)
        do {
            if let form {
                try await core.write(core.changes(of: node, to: form))
            } else {
                try await core.change { try self.changes(to: value) }
            }
        } catch {
            throw PreferenceError(.unavailable, from: error).named(name)
        }
        if core.base > 0 { reportHidden() }
    }

    /// Removes the stored value.
    func remove() throws(PreferenceError) {
        let core = store.core
        do { try core.write(core.changes(of: node, to: nil)) } catch {
            throw PreferenceError(.unavailable, from: error).named(name)
        }
    }

    /// Removes the stored value; the task is suspended when that has to wait.
    nonisolated(nonsending) func remove() async throws(PreferenceError) {
        let core = store.core
        do { try await core.write(core.changes(of: node, to: nil)) } catch {
            throw PreferenceError(.unavailable, from: error).named(name)
        }
    }

    /// Reports once that a stronger layer's value hides the one that was set.
    @inline(never)
    func reportHidden() {
        let core = store.core
        let used = core.publishing.withLock { node.candidates() }.first(where: canRead)
        guard let used, used.layer < core.base else { return }
        core.reportOnce(
            PreferenceError(
                .hidden,
                name: name,
                "the value is stored, but the layer \"\(core.layers[used.layer].name)\" has another one, which is read"
            )
        )
    }
}
