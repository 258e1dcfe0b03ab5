internal import DurableFile
internal import Synchronization

// Calls of tasks, which suspend while a backend with a timeout is called, or when a file has to be waited for.

extension StoreCore {
    /// Returns a call that begins now, or nil if no source has a timeout.
    func beginCall() -> StoreCall? { attachedLayers.waitingSource == nil ? nil : StoreCall() }

    /// Returns a new call of a task, or nil if the task need not suspend because no source with a timeout is involved.
    func beginSuspendingCall() -> StoreCall? {
        let list = newest.attachedLayers
        guard list.waitingSource != nil else { return nil }
        let isPrepared =
            list.isPrepared.load(ordering: .acquiring)
            && list.layers.allSatisfy { !$0.isManaged || $0.source.timeout == nil || $0.source.isOpen }
        return isPrepared && list.writable?.timeout == nil ? nil : StoreCall()
    }

    /// Runs a blocking part of a task's call on a thread of the library, in the task's isolation scope.
    nonisolated(nonsending) func perform<Result: Sendable>(
        _ call: StoreCall,
        at source: Source? = nil,
        _ body: @escaping @Sendable (StoreCall) throws(PreferenceError) -> Result
    ) async throws(PreferenceError) -> Result {
        let call = call.blocking(.libraryThread)
        guard let source = source ?? newest.layers.waitingSource, let deadline = source.waitDeadline(of: call) else {
            return try body(call)
        }
        let calls = source.state.withLock { $0.calls }
        let isFile = !source.isSlow
        return try await calls.perform(until: deadline, late: source.lateError) {
            [isolation = PreferenceIsolation.current] (isFirst) throws(PreferenceError) in
            let call = isFile && isFirst ? StoreCall(blocking: .libraryThread) : call
            return try isolation.run { () throws(PreferenceError) in try body(call) }
        }
    }

    /// Commits as the blocking form does, while the task is suspended.
    nonisolated(nonsending) func commit(
        _ changes: ValueChanges,
        ifStillHolds reads: TransactionReads? = nil,
        node: PreferenceNode? = nil,
        suspending call: StoreCall
    ) async throws(PreferenceError) -> Bool {
        if mayCommitAtOnce {
            let call = call.blocking(.none)
            do throws(PreferenceError) { return try commit(changes, ifStillHolds: reads, node: node, call) } catch {
                guard call.wouldWait else { throw error }
            }
        }
        return try await perform(call) { [self] (call) throws(PreferenceError) in
            try commit(changes, ifStillHolds: reads, node: node, call)
        }
    }

    /// Whether a commit usually waits for nothing, so that a task makes it without being suspended.
    ///
    /// Not if observers are notified before it: a commit that would wait is made again.
    private var mayCommitAtOnce: Bool {
        let list = attachedLayers
        guard target == nil, let writable = list.writable, list.isPrepared.load(ordering: .acquiring) else {
            return false
        }
        return writable.isOpen && writable.file?.syncsEachCommit == false && !writable.hasEarlySubscriptions
            && !(list.waitingSource?.isSlow ?? false)
    }

    /// Returns the result of `base(for:)`; the task is suspended if a backend has to be called.
    nonisolated(nonsending) func base(
        for name: String,
        suspending call: StoreCall
    ) async throws(PreferenceError) -> StoredCandidates {
        guard mustCallBackendToRead else { return try base(for: name) }
        return try await perform(call) { [self] (call) throws(PreferenceError) in try base(for: name, call) }
    }

    /// Returns the result of the blocking form; the task is suspended if a backend has to be called.
    nonisolated(nonsending) func checkedSnapshot(
        suspending call: StoreCall
    ) async throws(PreferenceError) -> (StoreSnapshot, unread: PreferenceError?) {
        guard mustCallBackendToRead else { return try checkedSnapshot() }
        return try await perform(call) { [self] (call) throws(PreferenceError) in try checkedSnapshot(call) }
    }

    /// Returns the snapshot that a transaction reads, and the error if its values could not be read.
    func checkedSnapshot(
        _ call: StoreCall? = nil
    ) throws(PreferenceError) -> (StoreSnapshot, unread: PreferenceError?) {
        try checkThread(of: call)
        var unread: PreferenceError?
        do throws(PreferenceError) { try checkRead(call) } catch { unread = error }
        return (snapshot(call), unread)
    }

    /// Whether the stored values have not been read yet, or a query by name may be necessary.
    private var mustCallBackendToRead: Bool {
        let list = attachedLayers
        return !list.isPrepared.load(ordering: .acquiring) || list.writable?.failure != nil
    }
}
