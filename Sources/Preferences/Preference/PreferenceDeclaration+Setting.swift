// How a preference sets, writes and removes a value.

extension PreferenceDeclaration {
    /// The changes that set a value of a member, or one whose form alone is known; in the turn, so what is stored can't change meanwhile.
    private func changes(to value: Value, _ form: PropertyListValue?) throws(PreferenceError) -> [StoredChange] {
        let stored = own()
        let merged = member == nil ? self.form(of: form, over: stored) : try encode(value, over: stored)
        return store.core.changes(of: node, to: merged)
    }

    /// Whether a set of a form stores it whatever is stored.
    private func isPlain(_ form: PropertyListValue?) -> Bool { member == nil && !dependsOnStored(form) }

    /// Sets a value for a property; throws what is to be reported.
    func set(_ value: Value) throws(PreferenceError) {
        if let store = store.isolated { return try bound(to: store).set(value) }
        let core = store.core
        let form = member == nil ? try encode(value) : nil
        if core.hasKeyed { core.prepare(.node(node)) }
        let error =
            isPlain(form)
            ? core.set(core.changes(of: node, to: form)) : core.set { try changes(to: value, form) }
        if let error { throw error }
        if core.base > 0 { reportHidden() }
    }

    /// Stores a value; waits while the store is in use.
    func write(_ value: Value) throws(PreferenceError) {
        let core = store.core
        let form = member == nil ? try encode(value) : nil
        do {
            if isPlain(form) {
                try core.write(core.changes(of: node, to: form))
            } else {
                try core.change(until: core.deadline, reading: .node(node)) { _ in try changes(to: value, form) }
            }
        } catch {
            throw PreferenceError(.unavailable, from: error).named(name)
        }
        if core.base > 0 { reportHidden() }
    }

    /// Stores a value; the task is suspended when that has to wait.
    nonisolated(nonsending) func write(_ value: Value) async throws(PreferenceError) {
        let core = store.core
        let form = member == nil ? try encode(value) : nil
        do {
            if isPlain(form) {
                try await core.write(core.changes(of: node, to: form))
            } else {
                try await core.change { try self.changes(to: value, form) }
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
        core.reportHidden(name, by: core.publishing.withLock { node.candidates() }.first(where: canRead))
    }
}
