// Changes that are made as one.

extension PreferenceStore {
    /// Stores the changes that `body` makes as one: all or nothing, and one change for observers.
    ///
    ///     try store.transaction { t in
    ///         t[preferences.$theme] = .dark
    ///         t[preferences.$launches] += 1
    ///     }
    ///
    /// The body runs once, on the caller's thread, while no other thread and no other process can change the store: keep it short; one that
    /// runs longer than a second is reported. In a layered store it reads the writable layer and the layers below it. Properties that it
    /// sets directly aren't part of the transaction; they are shown at once and stored after it. An update, a write or another transaction
    /// of the same store inside it throws `misuse`.
    ///
    /// Throws the errors of `body`, and the error that keeps the changes from being stored; then nothing is changed. A call that waits for
    /// the store longer than the backend's timeout, 5 seconds for a file, throws `busy`.
    @discardableResult
    public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
        try resolved.core.transact(body)
    }

    /// Stores the changes that `body` makes as one; suspends the task when that has to wait.
    ///
    ///     try await store.transaction { t in t[preferences.$launches] += 1 }
    ///
    /// The body runs on the caller's actor, never on another thread, over the newest values. The values that it read must be unchanged when
    /// its changes are stored; if they aren't, the body runs again, so it should touch nothing but the transaction. One deadline, the start of
    /// the call plus the backend's timeout, covers all runs: when it passes, this throws `busy`, or `conflict` instead of running the body
    /// again, and nothing was changed. If the task is cancelled before, it throws `unavailable`.
    @discardableResult
    public nonisolated(nonsending) func transaction<Result>(
        _ body: (inout PreferenceTransaction) throws -> Result
    ) async throws -> Result {
        try await resolved.core.transact(body)
    }

    /// Removes the stored values of some preferences of this store, in one step and as one change.
    ///
    /// An error is reported to the issue handler; then nothing is changed.
    public func reset<First, each Value>(
        _ first: Preference<First>,
        _ others: repeat Preference<each Value>
    ) {
        let core = resolved.core
        do {
            try core.transact { transaction in
                transaction.reset(first)
                repeat transaction.reset(each others)
            }
        } catch {
            core.report(PreferenceError(.unencodable, from: error))
        }
    }
}

extension Preference {
    /// Modifies the value atomically: no change by another thread or process comes between reading and storing.
    ///
    ///     try preferences.$launches.update { $0 += 1 }
    ///
    /// The body runs once, on the caller's thread, while no other caller can change the store; see `PreferenceStore.transaction`. If
    /// the stored value can't be read, the call throws without running the body. Errors of the body are passed on; then nothing is changed.
    @discardableResult
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        let preference = inUse
        let node = preference.declaration.node
        do {
            return try preference.store.core.transact(reading: .node(node)) { try preference.update(&$0, body) }
        } catch {
            throw (error as? PreferenceError)?.named(name) ?? error
        }
    }

    /// Modifies the value atomically, as the blocking form does; suspends the task when that has to wait.
    ///
    ///     try await preferences.$launches.update { $0 += 1 }
    ///
    /// The body runs on the caller's actor, never on another thread, and again if the value was changed meanwhile; see
    /// `PreferenceStore.transaction(_:)` in its `async` form.
    @discardableResult
    public nonisolated(nonsending) func update<Result>(
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        let preference = inUse
        do { return try await preference.store.core.transact { try preference.update(&$0, body) } } catch {
            throw (error as? PreferenceError)?.named(name) ?? error
        }
    }

    private func update<Result>(
        _ transaction: inout PreferenceTransaction,
        _ body: (inout Value) throws -> Result
    ) throws -> Result {
        var value = try transaction.read(self)
        let result = try body(&value)
        try transaction.write(value, to: self)
        return result
    }
}
