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
        var failure: (any Error)?
        for (source, deadline) in waitingSources {
            do { try source.lookWhole(until: deadline) } catch { failure = failure ?? error }
        }
        if let failure { throw PreferenceError(.unavailable, from: failure) }
    }

    /// The sources that may wait, with their deadlines, which all begin now.
    private var waitingSources: [(Source, PreferenceDeadline)] {
        resolved.core.layers.map(\.source).filter(\.mayWait).map { source in
            var timeout = source.timeout
            return (source, timeout.start())
        }
    }

    /// Opens the store or catches up, as the blocking form does; the task is suspended while backends with a timeout are called, all of them
    /// at once.
    ///
    ///     try await store.load()
    ///
    /// - Throws: The errors of the blocking form, and `unavailable` if a backend was not called in time or the task was cancelled
    ///   before.
    public nonisolated(nonsending) func load() async throws(PreferenceError) {
        let sources = waitingSources
        if sources.count == 1 { return try await Self.look(sources[0]) }
        let failures = await withTaskGroup(of: (Int, PreferenceError)?.self) { group in
            for (index, source) in sources.enumerated() {
                group.addTask {
                    do throws(PreferenceError) { try await Self.look(source) } catch { return (index, error) }
                    return nil
                }
            }
            return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
        if let first = failures.min(by: { $0.0 < $1.0 }) { throw first.1 }
    }

    private nonisolated(nonsending) static func look(
        _ source: (Source, deadline: PreferenceDeadline)
    ) async throws(PreferenceError) {
        try await perform(source.0, until: source.deadline) { try source.0.lookWhole(until: $0) }
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
        guard let source = resolved.core.target else { return }
        do { try source.flush(until: source.timeout) } catch { throw PreferenceError(.unavailable, from: error) }
    }

    /// Waits until everything set so far survives a loss of power, as the blocking form does; the task is suspended until then.
    ///
    ///     try await store.flush()
    ///
    /// - Throws: `notDurable` if that fails; the values that were set can still be read.
    public nonisolated(nonsending) func flush() async throws(PreferenceError) {
        guard let source = resolved.core.target else { return }
        var timeout = source.timeout
        try await Self.perform(source, until: timeout.start()) { deadline in
            if deadline.isNow { throw PreferenceDeadline.WouldWait() }
            try source.flush(until: deadline)
        }
    }

    private nonisolated(nonsending) static func perform(
        _ source: Source,
        until deadline: PreferenceDeadline,
        _ body: @escaping @Sendable (PreferenceDeadline) throws -> Void
    ) async throws(PreferenceError) {
        do { try await source.perform(until: deadline, body) } catch {
            throw PreferenceError(.unavailable, from: error)
        }
    }
}

extension PreferenceStore {
    /// Whether a write could be stored now, as far as that is known without trying.
    ///
    ///     if !settings.isWritable { print("the settings are generated; changes go to another file") }
    ///
    /// False for a store whose layers are all read-only, such as the environment, for a file that the user of the program isn't
    /// allowed to write or to create, for one that isn't a preferences file or can't be opened, and while a managed store can't be
    /// opened. A layered store answers for the layer that receives the writes. True for memory, and for user defaults, a keyring, etcd
    /// and other backends unless they know otherwise. A name can be managed even so: `Preference.isManaged`.
    ///
    /// Nothing is created or changed. Like a read, it opens a store that isn't open, unless that waits for a network, and each call
    /// looks at the file's permissions. Call it on any thread.
    public var isWritable: Bool {
        let core = resolved.core
        guard let source = core.target else { return false }
        core.prepare()
        // A managed layer that isn't open might have any name.
        return source.isOpen && source.backend.isWritable
            && core.layers.allSatisfy { !$0.isManaged || $0.source.isOpen }
    }
}
