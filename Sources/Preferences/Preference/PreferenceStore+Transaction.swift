internal import DurableFile
internal import Synchronization

extension PreferenceStore {
    /// Stores the changes that `body` makes as one: all or nothing, and one change for observers.
    ///
    ///     try store.transaction { t in
    ///         t[preferences.$theme] = .dark
    ///         t[preferences.$launches] += 1
    ///     }
    ///
    /// The body runs on the caller's thread over a snapshot, without a lock. The values that it read must be unchanged when its
    /// changes are stored; if they aren't, the body runs again, so it should touch nothing but the transaction. In a file, the 17th
    /// run and those after it hold the file's lock, so that nothing changes, and a body that sets, flushes or refreshes a store gets `misuse`. After 64
    /// runs elsewhere, or in a file after 5 seconds, the call throws `conflict` or `busy`. This holds across threads, and across processes if the backend can compare. Names
    /// that were only written aren't compared. In a layered store the body reads the writable layer and the layers below
    /// it; a change to the layers below that happens while the changes are being stored counts as later.
    ///
    /// Throws the errors of `body`, and the error that keeps the changes from being stored; then nothing is changed. Setting a
    /// preference directly inside the body isn't part of the transaction. An update or another transaction inside the body, of a
    /// preference that this one reads, throws `misuse`, and so does this call.
    @discardableResult
    public func transaction<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
        try resolved.core.transact(body)
    }

    /// Stores the changes that `body` makes as one; suspends the task when that has to wait.
    ///
    ///     try await store.transaction { t in t[preferences.$launches] += 1 }
    ///
    /// The body runs on the caller's actor, never on another thread. In a store that doesn't have to wait, everything happens before the
    /// first suspension, as in the blocking form. One deadline, the start of the call plus the backend's timeout, covers all runs of
    /// the body: when it passes, or if the task is cancelled before the backend was called, this throws `unavailable` (for a file
    /// `busy`, or `conflict` instead of running the body again) and nothing was changed. Otherwise errors, order and observers are
    /// those of `Preference.write(_:)` in its `async` form.
    @discardableResult
    public nonisolated(nonsending) func transaction<Result>(
        _ body: (inout PreferenceTransaction) throws -> Result
    ) async throws -> Result {
        try await resolved.core.transactSuspending(body)
    }

    /// Removes the stored values of some preferences of this store, in one step and as one change.
    ///
    /// An error is reported to the issue handler; then nothing is changed. If the store can't be opened, each value is removed once it
    /// can be.
    public func reset<First, each Value>(
        _ first: Preference<First>,
        _ others: repeat Preference<each Value>
    ) {
        do {
            try transaction { transaction in
                transaction.reset(first)
                repeat transaction.reset(each others)
            }
        } catch let error as PreferenceError where error.isOfOpening {
            // Each is kept until the store can be opened.
            first.reset()
            repeat (each others).reset()
        } catch {
            resolved.report(PreferenceError(.unencodable, from: error))
        }
    }
}

extension StoreCore {
    /// Stores the changes that `body` makes as one, on the caller's thread.
    ///
    /// - Parameter whole: The call that the transaction is a part of; its deadline holds for all its parts. `nil` if it is a call by itself.
    package func transact<Result>(
        in whole: StoreCall? = nil,
        _ body: (inout PreferenceTransaction) throws -> Result
    ) throws -> Result {
        let call = whole ?? beginCall()
        var retry = Retry()
        while true {
            let (result, changes, reads) = try attempt(call, body)
            if changes.isEmpty { return result }
            if try commit(.several(changes), ifStillHolds: reads, call) { return result }
            // The parts before may have taken the whole time.
            let pause = try retry.next(until: deadline(of: call), after: whole == nil ? 1 : Retry.patience)
            if retry.isStarving, let call, let result = try transactAlone(call, body) { return result }
            Retry.block(pause)
        }
    }

    /// Stores the changes that `body` makes as one; the task is suspended while a backend with a timeout is called.
    @_semantics("optimize.sil.specialize.generic.never")
    package nonisolated(nonsending) func transactSuspending<Result>(
        in whole: StoreCall? = nil,
        _ body: (inout PreferenceTransaction) throws -> Result
    ) async throws -> Result {
        guard let own = beginSuspendingCall() else { return try transact(in: whole, body) }
        let call = whole ?? own
        var retry = Retry()
        while true {
            let (snapshot, unread) = try await checkedSnapshot(suspending: call)
            let (result, changes, reads) = try attempt(body, snapshot, unread: unread)
            if changes.isEmpty { return result }
            if try await commit(.several(changes), ifStillHolds: reads, suspending: call) { return result }
            let pause = try retry.next(until: deadline(of: call), after: Retry.patience)
            if retry.isStarving, let result = try transactAlone(call.blocking(.none), body) { return result }
            await Retry.suspend(pause)
        }
    }

    /// Runs the body with the lock of the file, so that nothing changes what it reads; returns nil if that isn't possible now.
    private func transactAlone<Result>(
        _ call: StoreCall,
        _ body: (inout PreferenceTransaction) throws -> Result
    ) throws -> Result? {
        var result: Result?
        let isStored = try commitAlone(call) {
            let (made, changes, reads) = try attempt(body, shownSnapshot(), unread: nil, isAlone: true)
            result = made
            return (changes.isEmpty ? nil : .several(changes), reads)
        }
        return isStored ? result : nil
    }

    /// Runs the body once; the snapshot ends with the call, so the commit needn't copy storage that the snapshot shares.
    private func attempt<Result>(
        _ call: StoreCall?,
        _ body: (inout PreferenceTransaction) throws -> Result
    ) throws -> (Result, changes: [String: PropertyListValue?], reads: TransactionReads) {
        let (snapshot, unread) = try checkedSnapshot(call)
        return try attempt(body, snapshot, unread: unread)
    }

    private func attempt<Result>(
        _ body: (inout PreferenceTransaction) throws -> Result,
        _ snapshot: consuming StoreSnapshot,
        unread: PreferenceError?,
        isAlone: Bool = false
    ) throws -> (Result, changes: [String: PropertyListValue?], reads: TransactionReads) {
        try RunningBody.run(.transaction, in: self, isAlone: isAlone) { [snapshot] running in
            var transaction = PreferenceTransaction(on: self, snapshot, unread: unread, in: running)
            let result = try body(&transaction)
            if let failure = transaction.failure { throw failure }
            return (result, transaction.changes, transaction.reads)
        }
    }
}

extension Preference {
    /// Modifies the value atomically: no change by another thread or process comes between reading and storing.
    ///
    ///     try preferences.$launches.update { $0 += 1 }
    ///
    /// The body runs on the caller's thread without a lock, and runs again if the value was changed in between, so it
    /// should touch nothing else; another update of the preference inside it is `misuse`. In a file, the 17th run holds the file's lock, so
    /// that nothing changes; then a body that sets, flushes or refreshes a store gets `misuse`. After 64 runs elsewhere, or in a file after 5
    /// seconds, the call throws `conflict` or `busy`. If the stored value can't be read, the call
    /// throws without running the body. Errors of the body are passed on; then nothing is changed.
    @discardableResult
    public func update<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        let declaration = declaration.resolved
        return try declaration.updateStored { try declaration.update($0, body) }
    }

    /// Modifies the value atomically, as the blocking form does; suspends the task when that has to wait.
    ///
    ///     try await preferences.$launches.update { $0 += 1 }
    ///
    /// The body runs on the caller's actor, never on another thread; see `PreferenceStore.transaction(_:)` in its `async` form
    /// for the deadline, and `write(_:)` for observers.
    @discardableResult
    public nonisolated(nonsending) func update<Result>(
        _ body: (inout Value) throws -> Result
    ) async throws -> Result {
        let declaration = declaration.resolved
        return try await declaration.updateSuspending { try declaration.update($0, body) }
    }
}

extension PreferenceDeclaration {
    /// Runs the body of an update once; returns the value to store and the body's result.
    fileprivate func update<Result>(
        _ candidates: StoredCandidates,
        _ body: (inout Value) throws -> Result
    ) throws -> (PropertyListValue?, Result) {
        var value = try readStrictly(candidates) ?? makeDefault()
        let result = try body(&value)
        return (try encode(value, over: candidates), result)
    }
}

/// The attempts of an update or transaction, with random pauses between them that grow.
struct Retry: ~Copyable {
    private static let limit = 64
    /// The number of updates of this process that have run so often that new ones wait for them.
    private static let starving = Atomic<Int>(0)
    static let patience = 16
    private var count = 1

    /// Whether the values have kept changing so often that the next run needs the lock of the file, if there is one.
    var isStarving: Bool { count > Self.patience }

    init() {
        // A thread that keeps updating would otherwise change the values between each read and commit of a slower one.
        if Self.starving.load(ordering: .relaxed) > 0 { Pause.sleep(microseconds: .random(in: 0...1000)) }
    }

    deinit {
        if count > Self.patience { Self.starving.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Blocks the caller's thread between two runs.
    static func block(_ microseconds: UInt32) {
        if microseconds > 0 { Pause.sleep(microseconds: microseconds) }
    }

    /// Suspends the task between two runs.
    nonisolated(nonsending) static func suspend(_ microseconds: UInt32) async {
        // A cancelled task gets its error from the next call.
        if microseconds > 0 { try? await Task.sleep(for: .microseconds(microseconds)) }
    }

    /// Counts another run; returns the microseconds to wait before it.
    ///
    /// - Parameter runs: The number of runs that the deadline doesn't prevent: a task may have waited for a thread since it began.
    /// - Throws: `conflict` after the last attempt, and after the deadline.
    mutating func next(
        name: String? = nil,
        until deadline: ContinuousClock.Instant?,
        after runs: Int = 1
    ) throws(PreferenceError) -> UInt32 {
        guard count < Self.limit, count < runs || deadline.map({ ContinuousClock.now < $0 }) ?? true else {
            throw PreferenceError(
                .conflict,
                name: name,
                "the values that were read kept changing, in each of \(count) attempts; nothing was changed. "
                    + "Try again, or do less in the body"
            )
        }
        count += 1
        if count == Self.patience + 1 { Self.starving.wrappingAdd(1, ordering: .relaxed) }
        // Every other run starts at once: the rejected commit has just read the newest values, which are old again after a
        // pause. The pauses let updates finish that are faster each time.
        return count.isMultiple(of: 2) ? 0 : .random(in: 0...UInt32(count * count))
    }
}
