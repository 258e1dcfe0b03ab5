internal import DurableFile

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

extension PreferenceDeclaration {
    /// Stores what `body` returns for what may answer for the name, unless that changed meanwhile; then it runs again.
    fileprivate func updateStored<Result>(
        _ body: (StoredCandidates) throws -> (PropertyListValue?, Result)
    ) throws -> Result {
        let core = store.core
        var retry = Retry()
        while true {
            let candidates = try core.base(for: name)
            let (changed, result) = try body(candidates)
            if try core.commit(.one(name, changed), ifStillHolds: TransactionReads(of: name, as: candidates)) {
                return result
            }
            try retry.next(name: name)
        }
    }

    /// Stores the newest whole value with this one as its member.
    func replace(with value: Value) throws(PreferencesError) {
        do {
            try updateStored { candidates in (try encode(value, over: candidates), ()) }
        } catch {
            throw PreferencesError(.unencodable, from: error)
        }
    }
}

/// Counts the runs of an update or transaction, with a pause between them that grows and differs from thread to thread.
private struct Retry {
    private static let limit = 64
    private var count = 1

    mutating func next(name: String?) throws(PreferencesError) {
        guard count < Self.limit else {
            throw PreferencesError(
                .conflict,
                name: name,
                "others changed what was read each of \(Self.limit) times; nothing was changed. "
                    + "Try again, or do less in the body"
            )
        }
        count += 1
        // Every other time at once: the set that was refused has just caught up with the others, and after a pause
        // what is known is old again. The pauses let those through who are faster each time.
        if !count.isMultiple(of: 2) { Pause.sleep(microseconds: .random(in: 0...UInt32(count * count))) }
    }
}
