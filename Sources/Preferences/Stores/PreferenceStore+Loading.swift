// Opening, reading again and flushing a store, each in a blocking form, as for `App.init()` and a synchronous `main`, and in an
// `async` form, which Swift chooses where `await` is written.

extension PreferenceStore {
    /// Opens the store, or reads again what others may have changed if it is open; blocks the thread if a backend waits, as one over a
    /// network does.
    ///
    ///     try store.load()
    ///
    /// When it returns, reads find the stored values and don't block. Call it at the start of the program for a store that
    /// waits for a network; otherwise the first read opens the store and blocks its thread until then. All layers of a layered
    /// store are opened. In a task write `try await`: a blocking form that waits there keeps a thread from the other tasks.
    ///
    /// An open store catches up and notifies observers of the differences. Only stores that aren't notified of external changes need
    /// that, such as the system's keyring; others read what they have yet to be notified of: a file that was just written, a change on
    /// its way from etcd.
    ///
    /// - Throws: The first error of a layer that can't be read, also one that is offline, after all other layers were read. A layer that
    ///   was open keeps its values; reads give defaults for another one until a later call succeeds.
    public func load() throws(PreferenceError) {
        try resolved.core.load()
    }

    /// Opens the store or catches up, as the blocking form does; the task is suspended while backends with a timeout are called, all of them
    /// at once.
    ///
    ///     try await store.load()
    ///
    /// - Throws: The errors of the blocking form, and `unavailable` if a backend was not called in time or the task was cancelled
    ///   before.
    public nonisolated(nonsending) func load() async throws(PreferenceError) {
        try await resolved.core.load()
    }

    /// Blocks until everything set so far survives a loss of power.
    ///
    ///     try store.flush()
    ///
    /// Concurrent callers share one sync of the file. In a layered store only the writable layer is flushed. In a task write `try
    /// await`.
    ///
    /// - Throws: `notDurable` if that fails; the values that were set can still be read.
    public func flush() throws(PreferenceError) {
        try resolved.core.layers.writable?.flush(StoreCall())
    }

    /// Waits until everything set so far survives a loss of power, as the blocking form does; the task is suspended until then.
    ///
    ///     try await store.flush()
    ///
    /// - Throws: `notDurable` if that fails; the values that were set can still be read.
    public nonisolated(nonsending) func flush() async throws(PreferenceError) {
        try await resolved.core.layers.writable?.flush(suspending: StoreCall())
    }
}

extension PreferenceStore {
    /// Whether a write could be stored now, as far as that is known without trying.
    ///
    ///     if !settings.isWritable { print("the settings are generated; changes go to another file") }
    ///
    /// False for a store whose layers are all read-only, such as the environment, for a file that the user of the program isn't
    /// allowed to write or to create, for one that isn't a preferences file or can't be opened, and while managed settings can't be
    /// read. A layered store answers for the layer that receives the writes. True for memory, and for user defaults, a keyring, etcd
    /// and other backends unless they know otherwise. A name can be managed even so: `Preference.isManaged`.
    ///
    /// Nothing is created or changed. Like a read, it opens a store that isn't open, unless that waits for a network, and each call
    /// looks at the file's permissions. Call it on any thread.
    public var isWritable: Bool { resolved.core.isWritable }
}

extension StoreCore {
    /// Whether a write could be stored now, as far as that is known without trying.
    fileprivate var isWritable: Bool {
        let list = attachedLayers
        guard let writable = list.writable else { return false }
        do throws(PreferenceError) {
            for layer in list.layers where layer.isManaged {
                if layer.source.isOpen || !layer.source.isSlow {
                    try layer.source.checkPolicy(nil)
                } else if layer.source.failure != nil {
                    return false
                }
            }
        } catch { return false }
        return writable.isWritable
    }

    /// Opens all layers on the caller's thread; throws the first error.
    func load(in whole: StoreCall? = nil) throws(PreferenceError) {
        try forEachSource(in: whole) { (source, call) throws(PreferenceError) in try source.load(call) }
    }

    /// Opens all layers, those with a timeout concurrently while the task is suspended; throws the first error.
    nonisolated(nonsending) func load(in whole: StoreCall? = nil) async throws(PreferenceError) {
        try await forEachSource(in: whole) { (source, call) throws(PreferenceError) in try source.load(call) }
    }

    /// Runs `body` for each source, one after another on the caller's thread; one call, and so one deadline, covers them all.
    ///
    /// - Throws: The first error, after all calls have returned.
    fileprivate func forEachSource(
        in whole: StoreCall? = nil,
        _ body: (Source, StoreCall?) throws(PreferenceError) -> Void
    ) throws(PreferenceError) {
        let failure = firstFailure(at: attachedLayers.layers.map(\.source), whole ?? beginCall(), body)
        if let failure { throw failure }
    }

    /// Runs `body` for each source; for those with a timeout concurrently on threads of the library.
    ///
    /// - Throws: The first error, after all calls have returned.
    fileprivate nonisolated(nonsending) func forEachSource(
        in whole: StoreCall? = nil,
        _ body: @escaping @Sendable (Source, StoreCall?) throws(PreferenceError) -> Void
    ) async throws(PreferenceError) {
        let call = whole ?? beginCall()
        let sources = attachedLayers.layers.map(\.source)
        var failure = firstFailure(at: sources.filter { $0.timeout == nil }, call, body)
        if let call {
            let failures = await withTaskGroup(of: PreferenceError?.self) { group in
                for source in sources where source.timeout != nil {
                    group.addTask { [self] in
                        do throws(PreferenceError) {
                            try await perform(call, at: source) { (call) throws(PreferenceError) in
                                try body(source, call)
                            }
                            return nil
                        } catch {
                            source.openOnLibraryThread(because: error)  // unless that was tried
                            source.noteOpenAttempt()
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            failure = failure ?? failures.compactMap { $0 }.first
        }
        if let failure { throw failure }
    }

    /// Runs `body` for each of the sources; returns the first error.
    private func firstFailure(
        at sources: [Source],
        _ call: StoreCall?,
        _ body: (Source, StoreCall?) throws(PreferenceError) -> Void
    ) -> PreferenceError? {
        var failure: PreferenceError?
        for source in sources {
            do throws(PreferenceError) { try body(source, call) } catch { failure = failure ?? error }
        }
        return failure
    }
}

extension Source {
    /// Whether changes could be stored now, as far as that is known without trying.
    fileprivate var isWritable: Bool {
        if !isOpen {
            if isSlow { return failure == nil && backend?.isWritable != false }
            do throws(PreferenceError) { try open(isReading: true) } catch { return false }
        }
        // With the file's lock, a body has just found that it can be written; the file can't be asked.
        return RunningBody.isAlone || backend?.isWritable ?? true
    }

    /// Reads the stored values, again if that was done, and those of the declared names if the backend is queried by name.
    fileprivate func load(_ call: StoreCall?) throws(PreferenceError) {
        defer { noteOpenAttempt() }
        try refresh(call)
        prepareDeclared(call)
    }
}
