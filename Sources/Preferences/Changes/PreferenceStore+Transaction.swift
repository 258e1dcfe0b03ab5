extension PreferenceStore {
    /// Stores what `body` sets as one: all or nothing, and one change for observers.
    ///
    ///     try store.transaction { t in
    ///         t[preferences.$theme] = .dark
    ///         t[preferences.$launches] += 1
    ///     }
    ///
    /// The body runs on the caller's thread over a snapshot, without a lock. What it read must still be stored when its
    /// changes are; where others changed that meanwhile, the body runs again, so it should touch nothing but the
    /// transaction. After 64 runs the call throws `conflict`. This holds between threads, and between processes where
    /// the backend can compare. Names that were only written are not compared. In a layered store it reads the layer that takes
    /// the writes and those below it; what changes in these at the very moment of storing counts as later.
    ///
    /// Throws what `body` throws, and what keeps the changes from being stored; nothing is changed then. Setting a
    /// preference directly inside the body is not part of the transaction.
    @discardableResult
    public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
        let core = resolved.core
        var retry = Retry()
        while true {
            let (result, changes, reads) = try core.attempt(body)
            if changes.isEmpty { return result }
            if try core.commit(.several(changes), ifStillHolds: reads) { return result }
            try retry.next(name: nil)
        }
    }

    /// Removes what is stored for some preferences of this store, in one step and as one change.
    ///
    /// An error is reported to the issue handler, and nothing is changed then.
    public func reset<First, each Value>(
        _ first: Preference<First>,
        _ others: repeat Preference<each Value>
    ) {
        do {
            try transaction { transaction in
                transaction.reset(first)
                repeat transaction.reset(each others)
            }
        } catch {
            resolved.report(PreferencesError(.unencodable, from: error))
        }
    }
}

extension StoreCore {
    /// Runs the body once; the snapshot ends with it, so that the commit need not copy what the snapshot shares.
    fileprivate func attempt<Result>(
        _ body: (inout PreferenceTransaction) throws -> Result
    ) throws -> (Result, changes: [String: PropertyListValue?], reads: TransactionReads) {
        var transaction = PreferenceTransaction(on: self)
        let result = try body(&transaction)
        if let failure = transaction.failure { throw failure }
        return (result, transaction.changes, transaction.reads)
    }
}

extension Preference {
    /// Changes the value in one step: no change by another thread or process comes between reading and storing.
    ///
    ///     try Defaults.counter.$launches.update { $0 += 1 }
    ///
    /// The body runs on the caller's thread without a lock, and again where others changed the value meanwhile, so it
    /// should touch nothing else. After 64 runs the call throws `conflict`. An unreadable stored value throws without
    /// running the body. What the body throws passes through; nothing is changed then.
    @discardableResult
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        let declaration = declaration.resolved
        return try declaration.updateStored { candidates in
            var value = try declaration.readStrictly(candidates) ?? defaultValue
            let result = try body(&value)
            return (try declaration.encode(value, over: candidates), result)
        }
    }
}
