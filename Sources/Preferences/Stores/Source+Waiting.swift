internal import CDurableFile
internal import DurableFile

// Calls that wait: for a backend with a timeout, and for a sync.

extension Source {
    /// Returns the call, or a new one; throws if it must not block the thread.
    @inline(never)
    func admit(_ call: StoreCall?, _ use: TurnUse) throws(PreferenceError) -> StoreCall {
        let call = call ?? StoreCall()
        try checkThread(of: call)
        return call
    }

    /// Returns the time at which the call's timeout for this source ends.
    func deadline(of call: StoreCall) -> ContinuousClock.Instant? { timeout.map { call.start + $0 } }

    /// Returns the time until which a call waits for other ones.
    ///
    /// A call of a file that is late already, because the body of an update took long or the machine is slow, waits a second.
    func waitDeadline(of call: StoreCall) -> ContinuousClock.Instant? {
        guard let timeout, let deadline = deadline(of: call) else { return nil }
        return isSlow ? deadline : max(deadline, .now + min(timeout, .seconds(1)))
    }

    /// Throws if a call must not block the thread for this source.
    func checkThread(of call: StoreCall) throws(PreferenceError) {
        if isSlow, call.blocking == .callersThread { try backend?.checkThreadMayBlock() }
    }

    /// Waits for the turn, which another thread has, within the call's deadline; then the backend has that deadline, too.
    // By itself, because a variable of a type of another library costs a set hundreds of instructions.
    @inline(never)
    func waitForTurn(_ call: StoreCall?, _ use: TurnUse) throws(PreferenceError) {
        try RunningBody.checkMayWait()
        let (thread, forks) = (ThreadIdentity.current, durable_file_fork_count())
        let deadline = try waitDeadline(of: call, use)
        while true {
            let waiter = Condition(false)
            switch state.withLock({ $0.turn.claim(by: thread, in: forks, orWait: waiter) }) {
            case .granted, .held:  // not held, as `claim` has found
                return state.withLock { $0.deadline = deadline }
            case .busy: break
            case .waiting:
                guard !waiter.wait(until: deadline) else { break }
                // A waiter that was woken at that moment claims the turn again; otherwise no thread would take the turn.
                guard !state.withLock({ $0.turn.withdraw { $0 === waiter } }) else { throw lateError }
            }
        }
    }

    /// Returns the time until which a call waits for another one, nil for no limit; throws if it must not wait.
    private func waitDeadline(of call: StoreCall?, _ use: TurnUse) throws(PreferenceError) -> ContinuousClock.Instant? {
        if let call, call.blocking == .none {
            call.end()
            throw lateError
        }
        // Only a commit waits for the lock of a file; a read that opens the file waits for as long as that takes.
        guard isSlow || use == .commit else { return nil }
        return (call ?? (isSlow ? nil : StoreCall())).flatMap(waitDeadline)
    }

    /// Commits again to a file whose lock another process held for a short time, and waits for what the call has left.
    @inline(never)
    func commit(
        _ changes: ValueChanges,
        if condition: PreferenceCondition?,
        to file: FileBackend,
        _ call: StoreCall?,
        after error: PreferenceError
    ) throws(PreferenceError) -> Bool {
        guard error.code == .busy else { throw error }
        let call = call ?? StoreCall()
        guard call.blocking != .none else {
            call.end()
            throw error
        }
        // Without a deadline, the call has not waited for anything before.
        let rest = state.withLock { $0.deadline }.map { $0 - .now } ?? file.lockTimeout - file.shortWait
        guard rest > .zero else { throw error }
        return try file.commit(changes, if: condition, within: rest)
    }

    /// Stores the changes that `make` returns, unless it returns nil, while no other thread or process can change what it reads.
    ///
    /// `make` is called with the turn and the file's locks, after all changes of other processes were published.
    @inline(never)
    func commitAlone(
        to file: FileBackend,
        _ own: ChangeContext,
        _ call: StoreCall,
        _ make: () -> ValueChanges?
    ) throws(PreferenceError) {
        try withTurn(.commit, call) { (notifications) throws(PreferenceError) in
            defer { publishStored(own, into: &notifications) }
            let rest = waitDeadline(of: call).map { max(.zero, $0 - .now) } ?? file.lockTimeout
            try file.commit(within: call.blocking == .none ? .zero : rest) {
                publishStored(nil, into: &notifications)
                return make()
            }
        }
        try file.didApply()
    }

    /// Sets the deadline of the call that uses the backend; call with the turn.
    @inline(never)
    func begin(_ call: StoreCall) throws(PreferenceError) {
        guard let deadline = deadline(of: call) else { return }
        if isSlow, ContinuousClock.now >= deadline { throw lateError }
        state.withLock { $0.deadline = deadline }
    }

    /// The error of a call whose time is over: that of opening the backend if that has taken it.
    var lateError: PreferenceError {
        if let file { return PreferenceError(.busy(path: file.path, waited: file.lockTimeout)) }
        return isOpen ? PreferenceError(late: ()) : (failure ?? PreferenceError(late: ())).ofOpening
    }

    /// Opens a backend on a thread of the library, because this call can't open it or wait for it; its values are then changes.
    ///
    /// An error is reported unless it is the one that the caller has thrown or reported: that thread can wait in vain, too.
    func openOnLibraryThread(because known: PreferenceError) {
        let calls = state.withLock { state -> CallQueue? in
            guard !isOpen, state.failure == nil else { return nil }
            state.failure = known
            return state.calls
        }
        calls?.run { [weak self] in
            guard let self else { return }
            do throws(PreferenceError) {
                try open(StoreCall(blocking: .libraryThread), isReading: true)
            } catch {
                if error.description != known.description { report(error) }
            }
        }
    }
}

// MARK: Flushing

extension Source {
    /// Blocks the caller's thread until everything set so far survives a loss of power.
    func flush(_ call: StoreCall) throws(PreferenceError) {
        try RunningBody.checkMayWait()
        guard let backend = try backendToFlush else { return }
        try checkThread(of: call)
        let deadline = isSlow ? deadline(of: call) : nil
        do throws(PreferenceError) { try backend.sync(until: deadline) } catch { throw error.ofFlush(until: deadline) }
    }

    /// Waits until everything set so far survives a loss of power; blocks a thread of the library.
    nonisolated(nonsending) func flush(suspending call: StoreCall) async throws(PreferenceError) {
        guard let backend = try backendToFlush else { return }
        let deadline = isSlow ? deadline(of: call) : nil
        let syncs = state.withLock { $0.syncs }
        do throws(PreferenceError) {
            try await syncs.perform(until: deadline) { (_) throws(PreferenceError) in
                try backend.sync(until: deadline)
            }
        } catch {
            throw error.ofFlush(until: deadline)
        }
    }

    /// The backend if it may have something to sync; throws if values that were set are only in memory.
    private var backendToFlush: (any PreferenceBackend)? {
        get throws(PreferenceError) {
            try checkStored()
            return isOpen ? backend : nil
        }
    }
}

extension PreferenceError {
    /// Returns the error of a flush for one of a sync.
    fileprivate func ofFlush(until deadline: ContinuousClock.Instant?) -> PreferenceError {
        guard deadline != nil, code == .unavailable else { return self }
        return PreferenceError(
            .notDurable,
            "the values that were set might not survive a loss of power yet; flush again",
            cause: self
        )
    }
}
