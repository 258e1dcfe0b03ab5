internal import DurableFile

// Calls that wait: for a backend with a timeout, and for a sync.

extension Source {
    /// Returns the call, or a new one; throws if it must not block the thread.
    @inline(never)
    func admit(_ call: StoreCall?, _ use: TurnUse) throws(PreferenceError) -> StoreCall {
        let call = call ?? StoreCall(use == .commit ? .write : .read)
        try checkThread(of: call)
        reportWait(of: call)
        return call
    }

    /// Returns the time at which the call's timeout for this source ends.
    func deadline(of call: StoreCall) -> ContinuousClock.Instant? { timeout.map { call.start + $0 } }

    /// Throws if a call must not block the thread for this source.
    func checkThread(of call: StoreCall) throws(PreferenceError) {
        if timeout != nil, !call.isOnLibraryThread { try backend?.checkThreadMayBlock() }
    }

    /// Sets the backend's deadline; call with the turn.
    @inline(never)
    func begin(_ call: StoreCall) throws(PreferenceError) {
        guard let deadline = deadline(of: call), ContinuousClock.now < deadline else { throw lateError }
        state.withLock { $0.deadline = deadline }
    }

    /// The error of a call whose time is over: that of opening the backend if that has taken it.
    var lateError: PreferenceError {
        isOpen ? PreferenceError(late: ()) : (failure ?? PreferenceError(late: ())).ofOpening
    }

    /// Opens a backend on a thread of the library, because this call can't open it or wait for it; its values are then changes.
    func openOnLibraryThread(because error: PreferenceError) {
        let calls = state.withLock { state -> CallQueue? in
            guard !isOpen, state.failure == nil else { return nil }
            state.failure = error
            return state.calls
        }
        calls?.run { [weak self] in
            guard let self else { return }
            do throws(PreferenceError) {
                try open(StoreCall(.load, isOnLibraryThread: true), isReading: true)
            } catch {
                report(error)
            }
        }
    }
}

// MARK: Flushing

extension Source {
    /// Blocks the caller's thread until everything set so far survives a loss of power.
    func flush(_ call: StoreCall) throws(PreferenceError) {
        guard let backend = try backendToFlush else { return }
        try checkThread(of: call)
        reportWait(of: call)
        let deadline = deadline(of: call)
        do throws(PreferenceError) { try backend.sync(until: deadline) } catch { throw error.ofFlush(until: deadline) }
    }

    /// Waits until everything set so far survives a loss of power; blocks a thread of the library.
    nonisolated(nonsending) func flush() async throws(PreferenceError) {
        guard let backend = try backendToFlush else { return }
        let deadline = deadline(of: StoreCall(.flush))
        let syncs = state.withLock { $0.syncs }
        do throws(PreferenceError) {
            try await syncs.perform(until: deadline) { () throws(PreferenceError) in
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

// MARK: Waiting inside a task

extension Source {
    /// Reports a blocking call that has to wait for this source inside a task, once for each form of call.
    ///
    /// Swift chooses the blocking form in a closure without `await`, such as that of `Task { try store.flush() }`. The thread that
    /// it then blocks is one of the few that run all tasks. A file is waited for only if it is synced.
    func reportWait(of call: StoreCall) {
        guard !call.isOnLibraryThread, timeout != nil || (file != nil && call.form == .flush),
            withUnsafeCurrentTask(body: { $0 != nil }),
            state.withLock({ $0.reportedWaits.insert(call.form).inserted })
        else { return }
        report(PreferenceError(waitingInTask: call.form))
    }
}

extension PreferenceError {
    fileprivate init(waitingInTask form: StoreCall.Form) {
        let (call, suspending) =
            switch form {
            case .read: ("read", "try await load() before it")
            case .write: ("write", "try await write(_:)")
            case .removeAll: ("removeAll()", "try await transaction(_:)")
            case .update: ("update(_:)", "try await update(_:)")
            case .transaction: ("transaction(_:)", "try await transaction(_:)")
            case .load: ("load()", "try await load()")
            case .refresh: ("refresh()", "try await refresh()")
            case .flush: ("flush()", "try await flush()")
            case .migrate: ("migrate(to:steps:)", "try await migrate(to:steps:)")
            }
        self.init(
            .misuse,
            "a blocking \(call) waits inside a task, on a thread that other tasks need; use \(suspending), which suspends the task. "
                + "This is reported once"
        )
    }
}
