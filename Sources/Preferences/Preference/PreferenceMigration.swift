/// One step of a store's migration, which brings the store's data to a version.
public struct PreferenceMigration: Sendable {
    /// The version of the store's data after the step, at least 1.
    public let version: Int
    let body: @Sendable (inout PreferenceTransaction) throws -> Void

    /// Creates a step.
    ///
    /// The body must read and write the transaction only. It runs again if another process changes a value that it read. Its
    /// changes are stored together with the version, when the whole step succeeds.
    public init(_ version: Int, _ body: @escaping @Sendable (inout PreferenceTransaction) throws -> Void) {
        self.version = version
        self.body = body
    }
}

extension PreferenceStore {
    /// Brings the store's data to a version, by running the steps that haven't run yet; blocks the thread until all changes survive
    /// a loss of power.
    ///
    ///     try store.migrate(to: 2, steps: [
    ///         .init(1) { $0["colour"] = $0["color"]; $0["color"] = nil },
    ///         .init(2) { $0[preferences.$volume] *= 10 },
    ///     ])
    ///
    /// A store that was never migrated has version 0. Each step is one transaction that also stores its version, so it
    /// happens once and completely, even if the program is killed or two processes start at the same time. A step that throws leaves
    /// the store in the state after the step before it. Call it before the first read, as in `App.init()`; in a task write `try
    /// await`.
    ///
    /// - Parameters:
    ///   - version: The version that the program works with.
    ///   - steps: The steps, with ascending versions from 1 to `version`; a version needs no step.
    ///   - dryRun: Whether to store nothing and only return the changes.
    /// - Returns: The changes that were made or would be made by all steps together; its names include the version's.
    /// - Throws: `newerVersion` for a store that a newer program has migrated, `misuse` for steps out of order, and the errors of the
    ///   steps.
    @discardableResult
    public func migrate(
        to version: Int,
        steps: [PreferenceMigration],
        dryRun: Bool = false
    ) throws -> PreferenceStoreChange {
        let steps = try MigrationSteps(steps, upTo: version)
        let core = resolved.core
        if core.beginSuspendingCall(.migrate) != nil { try core.load(.migrate) }
        let before = core.contents
        guard !dryRun else { return try steps.rehearse(on: core, from: before) }
        for step in steps.all { try core.transact(.migrate) { try steps.run(step, in: &$0) } }
        try core.layers.writable?.flush(StoreCall(.migrate))
        return PreferenceStoreChange(from: before, to: core.contents, in: core)
    }

    /// Brings the store's data to a version, as the blocking form does; the task is suspended while a backend with a timeout is
    /// called and while the changes are synced.
    ///
    ///     try await store.migrate(to: 2, steps: steps)
    ///
    /// The steps run on the caller's actor.
    ///
    /// - Throws: The errors of the blocking form, and `unavailable` if a backend was not called in time or the task was cancelled
    ///   before.
    @discardableResult
    public nonisolated(nonsending) func migrate(
        to version: Int,
        steps: [PreferenceMigration],
        dryRun: Bool = false
    ) async throws -> PreferenceStoreChange {
        let steps = try MigrationSteps(steps, upTo: version)
        let store = resolved
        if store.core.beginSuspendingCall(.migrate) != nil { try await store.load() }
        let before = store.contents
        guard !dryRun else { return try steps.rehearse(on: store.core, from: before) }
        for step in steps.all { try await store.transaction { try steps.run(step, in: &$0) } }
        try await store.flush()
        return PreferenceStoreChange(from: before, to: store.contents, in: store.core)
    }
}

/// The steps of a store's migration to a version.
private struct MigrationSteps {
    /// The program's steps, and one that only stores the version.
    let all: [PreferenceMigration]
    private let version: Int

    init(_ steps: [PreferenceMigration], upTo version: Int) throws(PreferenceError) {
        let versions = steps.map(\.version)
        guard versions == Array(Set(versions)).sorted(), versions.allSatisfy({ (1...max(1, version)).contains($0) })
        else {
            throw PreferenceError(
                .misuse,
                "migration steps need versions from 1 to \(version), each once and ascending, and are \(versions)"
            )
        }
        all = steps + [PreferenceMigration(version) { _ in }]
        self.version = version
    }

    /// Runs a step unless it has run on the store.
    func run(_ step: PreferenceMigration, in transaction: inout PreferenceTransaction) throws {
        let current = try Self.version(in: &transaction)
        guard current <= version else {
            throw PreferenceError(
                .newerVersion,
                name: PreferenceStore.versionName,
                "the store's data is of version \(current) and this program knows \(version); use a newer program"
            )
        }
        guard current < step.version else { return }
        try step.body(&transaction)
        transaction[PreferenceStore.versionName] = .integer(Int64(step.version))
    }

    /// Returns the changes that the steps would make to an open store, and stores nothing.
    func rehearse(on core: StoreCore, from before: [String: PropertyListValue]) throws -> PreferenceStoreChange {
        let (snapshot, unread) = try core.checkedSnapshot()
        var transaction = try RunningBody.run(.transaction, in: core) { running in
            var transaction = PreferenceTransaction(on: core, snapshot, unread: unread, in: running)
            for step in all { try run(step, in: &transaction) }
            return transaction
        }
        if let failure = transaction.failure { throw failure }
        return PreferenceStoreChange(from: before, to: transaction.contents, in: core)
    }

    private static func version(in transaction: inout PreferenceTransaction) throws(PreferenceError) -> Int {
        // Not that of another layer: an administrator's file says nothing about the user's data.
        guard let stored = transaction.ownValue(of: PreferenceStore.versionName) else { return 0 }
        let shown = transaction.isSecret(PreferenceStore.versionName) ? .redacted : stored.description
        guard case .integer(let version) = stored, let version = Int(exactly: version), version >= 0 else {
            throw PreferenceError(
                .unreadable,
                name: PreferenceStore.versionName,
                "the version of the store's data is \(shown), which isn't a version; "
                    + "set it to the right number or remove it, and start again"
            )
        }
        return version
    }
}

extension PreferenceStoreChange {
    /// Creates the difference between two states of a store.
    fileprivate init(
        from old: [String: PropertyListValue],
        to new: [String: PropertyListValue],
        in core: StoreCore
    ) {
        let names = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
        self.init(
            names: names,
            old: old.filter { names.contains($0.key) },
            new: new.filter { names.contains($0.key) },
            origin: .local,
            secretNames: core.secretNames(among: names)
        )
    }
}
