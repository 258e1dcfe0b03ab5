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
    /// The name under which a store keeps the version of its data.
    static let versionName = "preferences.version"

    /// Brings the store's data to a version, by running the steps that haven't run yet.
    ///
    ///     try await store.migrate(to: 2, steps: [
    ///         .init(1) { $0["colour"] = $0["color"]; $0["color"] = nil },
    ///         .init(2) { $0[preferences.$volume] *= 10 },
    ///     ])
    ///
    /// A store that was never migrated has version 0. Each step is one transaction that also stores its version, so it
    /// happens once and completely, even if the program is killed or two processes start at the same time. A step that throws leaves
    /// the store in the state after the step before it. All changes survive a loss of power when the call returns.
    ///
    /// - Parameters:
    ///   - version: The version that the program works with.
    ///   - steps: The steps, with ascending versions from 1 to `version`; a version needs no step.
    ///   - dryRun: Whether to store nothing and only return the changes.
    /// - Returns: The changes that were made or would be made by all steps together; its names include the version's.
    /// - Throws: `newerVersion` for a store that a newer program has migrated, `misuse` for steps out of order, and the errors of the
    ///   steps.
    @discardableResult
    public nonisolated(nonsending) func migrate(
        to version: Int,
        steps: [PreferenceMigration],
        dryRun: Bool = false
    ) async throws -> PreferenceStoreChange {
        try Self.check(steps, upTo: version)
        let store = resolved
        if store.core.beginSuspendingCall() != nil { try await store.load() }
        let before = store.contents
        guard !dryRun else {
            let (snapshot, unread) = try store.core.checkedSnapshot()
            var transaction = PreferenceTransaction(on: store.core, snapshot, unread: unread)
            for step in steps + [PreferenceMigration(version) { _ in }] {
                try step.run(in: &transaction, upTo: version)
            }
            if let failure = transaction.failure { throw failure }
            return PreferenceStoreChange(from: before, to: transaction.contents, in: store)
        }
        for step in steps + [PreferenceMigration(version) { _ in }] {
            try await store.transaction { transaction in try step.run(in: &transaction, upTo: version) }
        }
        try await store.flush()
        return PreferenceStoreChange(from: before, to: store.contents, in: store)
    }

    private static func check(_ steps: [PreferenceMigration], upTo version: Int) throws(PreferenceError) {
        let versions = steps.map(\.version)
        guard versions == Array(Set(versions)).sorted(), versions.allSatisfy({ (1...max(1, version)).contains($0) })
        else {
            throw PreferenceError(
                .misuse,
                "migration steps need versions from 1 to \(version), each once and ascending, and are \(versions)"
            )
        }
    }
}

extension PreferenceMigration {
    /// Runs the step unless it has run on this store.
    fileprivate func run(in transaction: inout PreferenceTransaction, upTo version: Int) throws {
        let current = try Self.version(in: &transaction)
        guard current <= version else {
            throw PreferenceError(
                .newerVersion,
                name: PreferenceStore.versionName,
                "the store's data is of version \(current) and this program knows \(version); use a newer program"
            )
        }
        guard current < self.version else { return }
        try body(&transaction)
        transaction[PreferenceStore.versionName] = .integer(Int64(self.version))
    }

    private static func version(in transaction: inout PreferenceTransaction) throws(PreferenceError) -> Int {
        guard let stored = transaction[PreferenceStore.versionName] else { return 0 }
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
        in store: PreferenceStore
    ) {
        let names = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
        self.init(
            names: names,
            old: old.filter { names.contains($0.key) },
            new: new.filter { names.contains($0.key) },
            origin: .local,
            secretNames: store.core.secretNames(among: names)
        )
    }
}
