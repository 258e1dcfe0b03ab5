/// One step of a store's migration, which brings the store's data to a version.
public struct PreferenceMigration: Sendable {
    /// The version of the store's data after the step, at least 1.
    public let version: Int
    /// Whether the step also runs on a store that has no values yet.
    let runsOnNewStores: Bool
    let body: @Sendable (inout Values) throws -> Void

    /// Creates a step.
    ///
    /// The body must read and write its argument only. It runs again if another process changes a value that it read. Its
    /// changes are stored together with the version, when the whole step succeeds.
    ///
    /// - Parameters:
    ///   - version: The version of the store's data after the step.
    ///   - onNewStores: Whether the step also runs on a store without values and without a version, which is that of a new user.
    ///   - body: Changes the values.
    public init(_ version: Int, onNewStores: Bool = false, _ body: @escaping @Sendable (inout Values) throws -> Void) {
        self.version = version
        runsOnNewStores = onNewStores
        self.body = body
    }

    /// Runs the body over the own values of a transaction.
    fileprivate func run(in transaction: inout PreferenceTransaction) throws {
        var values = Values(transaction: transaction)
        defer { transaction = values.transaction }
        try body(&values)
    }
}

extension PreferenceMigration {
    /// The values that a step reads and writes: those that the store itself has, or its writable layer. No other layer's, and no default.
    ///
    /// A subscript can't throw: the first error (a value that breaks its rule or can't be encoded, a preference of another store) is
    /// thrown when the step ends, and then nothing is stored.
    public struct Values {
        fileprivate var transaction: PreferenceTransaction

        /// The preference's own value, stored under its name or a former one, and decoded without its rules; `nil` if there is none.
        ///
        ///     $0[player.$volume]? *= 10
        ///
        /// A `nil` that was set and a value that can't be decoded are `nil`, too, whatever is stored under a former name; so is a member
        /// that isn't stored. They stay as they are; a value that can't be decoded is reported. A new value
        /// is stored under the name alone; it must meet the rules, and keeps the members that the type doesn't know. `nil` removes a value
        /// that could be decoded; a member is then the default's.
        public subscript<Value>(preference: Preference<Value>) -> Value? {
            mutating get { transaction.ownValue(of: preference) }
            set { transaction.setOwnValue(of: preference, to: newValue) }
        }

        /// The preference's own value, as the other form has it, for an optional preference.
        public subscript<Wrapped>(preference: Preference<Wrapped?>) -> Wrapped? {
            mutating get { transaction.ownValue(of: preference) ?? nil }
            set { transaction.setOwnValue(of: preference, to: newValue.map { .some($0) }) }
        }

        /// The value that is stored under a name, or `nil` if there is none. Setting `nil` removes the value.
        ///
        ///     $0["colour"] = nil
        ///     $0["frame"]?[member: "isPinned"] = nil
        public subscript(name: String) -> PropertyListValue? {
            mutating get { transaction.ownValue(of: name) }
            set { transaction[name] = newValue }
        }

        /// The names that have a value, sorted.
        public var names: [String] {
            mutating get { transaction.ownNames.sortedByBytes }
        }

        /// Changes the preference's own value, if it has one that can be decoded.
        ///
        ///     try $0.modify(player.$name) { name in name = try cleaned(name) }
        public mutating func modify<Value>(
            _ preference: Preference<Value>,
            _ body: (inout Value) throws -> Void
        ) rethrows {
            guard var value = transaction.ownValue(of: preference) else { return }
            try body(&value)
            transaction.setOwnValue(of: preference, to: value)
        }

        /// Moves a value to another name, as it is stored.
        ///
        ///     $0.move(from: "colour", to: "color")
        ///
        /// Nothing happens if there is no value under the old name, or one under the new name already.
        public mutating func move(from old: String, to new: String) {
            guard old != new, let value = self[old], self[new] == nil else { return }
            self[new] = value
            self[old] = nil
        }
    }
}

extension PreferenceStore {
    /// Brings the store's data to a version, by running the steps that haven't run yet; blocks the thread until all changes survive
    /// a loss of power.
    ///
    ///     try store.migrate(to: 2, steps: [
    ///         .init(1) { $0.move(from: "colour", to: "color") },
    ///         .init(2) { $0[player.$volume]? *= 10 },
    ///     ])
    ///
    /// A store that was never migrated has version 0. On one without a value of its own and without a version, as a new user has it, no
    /// step runs but those that say `onNewStores`, and `version` is stored, all in one transaction. Otherwise each step is one transaction that
    /// also stores its version, so it happens once and completely, even if the program is killed or two processes start at the same time. A
    /// step that throws leaves the store in the state after the step before it. Call it before the first read, as in `App.init()`; in a
    /// task write `try await`. One deadline, the start of the call plus the backend's timeout, covers opening the store, all steps and the
    /// sync; a later call goes on after the last step that was stored.
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
        var timeout = core.deadline
        let deadline = timeout.start()
        guard !dryRun else { return try steps.rehearse(on: core, until: deadline) }
        var changes = OwnChanges()
        for step in steps.all {
            changes.append(try core.transact(until: deadline) { try steps.run(step, in: &$0) })
        }
        try core.target?.flush(until: deadline)
        return PreferenceStoreChange(changes, in: core)
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
        let core = resolved.core
        let source = core.target
        var timeout = core.deadline
        let deadline = timeout.start()
        guard !dryRun else {
            guard let source else { return try steps.rehearse(on: core, until: deadline) }
            return try await source.perform(until: deadline) { deadline in
                if deadline.isNow, source.mayWait { throw PreferenceDeadline.WouldWait() }
                return try steps.rehearse(on: core, until: deadline)
            }
        }
        var changes = OwnChanges()
        for step in steps.all {
            changes.append(try await core.transact(until: deadline) { try steps.run(step, in: &$0) })
        }
        try await source?.perform(until: deadline) { deadline in
            if deadline.isNow, source?.mayWait ?? false { throw PreferenceDeadline.WouldWait() }
            try source?.flush(until: deadline)
        }
        return PreferenceStoreChange(changes, in: core)
    }
}

/// The steps of a store's migration to a version.
private struct MigrationSteps {
    /// The program's steps, and one that only stores the version.
    let all: [PreferenceMigration]
    private let steps: [PreferenceMigration]
    private let version: Int

    init(_ steps: [PreferenceMigration], upTo version: Int) throws(PreferenceError) {
        let versions = steps.map(\.version)
        guard versions == Array(Set(versions)).sorted(), versions.allSatisfy({ (1...max(1, version)).contains($0) })
        else {
            throw PreferenceError(
                .misuse,
                "the migration steps have the versions \(versions); number them in ascending order, each once, from 1 to \(version)"
            )
        }
        self.steps = steps
        all = steps + [PreferenceMigration(version) { _ in }]
        self.version = version
    }

    /// Runs a step unless it has run on the store; returns the changes of the transaction so far.
    func run(_ step: PreferenceMigration, in transaction: inout PreferenceTransaction) throws -> OwnChanges {
        try runUnlessDone(step, in: &transaction)
        return transaction.ownChanges
    }

    private func runUnlessDone(_ step: PreferenceMigration, in transaction: inout PreferenceTransaction) throws {
        let current = try Self.version(in: &transaction)
        guard current ?? 0 <= version else {
            throw PreferenceError(
                .newerVersion,
                name: PreferenceStore.versionName,
                "the store's data is of version \(current ?? 0) and this program knows \(version); use a newer program"
            )
        }
        guard let current else {
            if isNew(&transaction) {
                for step in all where step.runsOnNewStores { try step.run(in: &transaction) }
                return transaction[PreferenceStore.versionName] = .integer(Int64(version))
            }
            return try run(step, from: 0, in: &transaction)
        }
        try run(step, from: current, in: &transaction)
    }

    private func run(_ step: PreferenceMigration, from current: Int, in transaction: inout PreferenceTransaction) throws
    {
        guard current < step.version else { return }
        try step.run(in: &transaction)
        transaction[PreferenceStore.versionName] = .integer(Int64(step.version))
    }

    /// Returns whether the value of a name is a record of the library, of the store or of a scope.
    private static func isRecord(_ name: String) -> Bool { PreferenceStore.recordNames.contains { name.hasSuffix($0) } }

    /// Returns the changes that the steps would make, and stores nothing.
    func rehearse(on core: StoreCore, until deadline: PreferenceDeadline) throws -> PreferenceStoreChange {
        try core.target?.open(until: deadline)
        let (changes, _) = try core.rehearse { transaction in
            for step in all { try runUnlessDone(step, in: &transaction) }
            return transaction.ownChanges
        }
        return PreferenceStoreChange(changes, in: core)
    }

    /// Returns whether the store has no values, as that of a new user.
    private func isNew(_ transaction: inout PreferenceTransaction) -> Bool {
        guard transaction.ownNames.allSatisfy(Self.isRecord) else { return false }
        guard transaction.core.target?.isKeyed ?? false else { return true }
        // Such a place lists only names that it was asked for, so the steps show which ones an older version had.
        var trial = transaction.trial
        for step in steps {
            // One that needs the values of an earlier step fails here, and its names show all the same.
            do { try step.run(in: &trial) } catch { continue }
        }
        return trial.usedNames.allSatisfy { Self.isRecord($0) || transaction.ownValue(of: $0) == nil }
    }

    private static func version(in transaction: inout PreferenceTransaction) throws(PreferenceError) -> Int? {
        // Not that of another layer: an administrator's file says nothing about the user's data.
        guard let stored = transaction.ownValue(of: PreferenceStore.versionName) else { return nil }
        let shown = transaction.core.isSecret(PreferenceStore.versionName) ? .redacted : stored.description
        guard case .integer(let version) = stored, let version = Int(exactly: version), version >= 0 else {
            throw PreferenceError(
                .unreadable,
                name: PreferenceStore.versionName,
                "the version of the stored data is \(shown), which isn't a whole number from 0; "
                    + "set it to the right number or remove it, and start again"
            )
        }
        return version
    }
}

// The values that the store itself has, whatever the other layers have.

/// The changes that one transaction or several make to a store's own values.
private struct OwnChanges {
    private(set) var old: [String: PropertyListValue?] = [:]
    private(set) var new: [String: PropertyListValue?] = [:]

    /// Adds the changes of the next transaction.
    mutating func append(_ next: OwnChanges) {
        old.merge(next.old) { first, _ in first }
        new.merge(next.new) { _, last in last }
    }
}

extension PreferenceTransaction {
    /// The stored values of a preference, the first of which counts.
    mutating func own(_ node: Node) -> [Candidate] { candidates(node).filter { $0.layer == core.base } }

    /// Returns the stored value of a name.
    package mutating func ownValue(of name: String) -> PropertyListValue? {
        candidates(name).first { $0.layer == core.base }?.value
    }

    /// Returns the stored value of a preference, under its name or a former one.
    package mutating func ownValue(ofPreference name: String) -> PropertyListValue? {
        own(core.node(name)).first?.value
    }

    package mutating func isSet(_ name: String) -> Bool { ownValue(ofPreference: name) != nil }

    /// Stores a value under a preference's name alone, or removes the value.
    package mutating func store(_ value: PropertyListValue?, as name: String) { store(value, of: core.node(name)) }

    /// Returns the preference's value without applying the rules; nil if there is none that can be decoded.
    fileprivate mutating func ownValue<Value>(of preference: Preference<Value>) -> Value? {
        do throws(PreferenceError) {
            let declaration = try own(preference)
            var outcome = ReadOutcome()
            let value = declaration.readOwn(own(declaration.node), &outcome)
            declaration.report(outcome)
            return value
        } catch {
            fail(error)
            return nil
        }
    }

    /// Stores a value in place of the preference's own one; `nil` removes one that can be decoded.
    fileprivate mutating func setOwnValue<Value>(of preference: Preference<Value>, to value: Value?) {
        guard let value else {
            // Swift sets `nil` again after `values[preference]?` has read it: what couldn't be decoded has to stay.
            if ownValue(of: preference) != nil { reset(preference) }
            return
        }
        do throws(PreferenceError) {
            let declaration = try own(preference)
            store(try declaration.encode(value, over: own(declaration.node)), of: declaration.node)
        } catch {
            fail(error)
        }
    }

    /// The names of the stored values.
    fileprivate var ownNames: [String] {
        mutating get { Array(contents(from: core.base, to: core.base + 1).keys) }
    }

    /// The names that were read or written.
    fileprivate var usedNames: Set<String> {
        reads.reduce(into: Set(edits.keys)) { names, read in
            switch read {
            case .preference(let node, _): names.formUnion([node.name] + core.formerNames(of: node))
            case .name(let name, _): names.insert(name)
            case .all: break
            }
        }
    }

    fileprivate var ownChanges: OwnChanges {
        let old = core.publishing.withLock {
            edits.keys.map { name in
                (name, core.candidates(name, from: core.base).first { $0.layer == core.base }?.value)
            }
        }
        return OwnChanges(old: Dictionary(uniqueKeysWithValues: old), new: edits)
    }
}

extension PreferenceStoreChange {
    /// Creates the change that the changes of a store's own values make together.
    fileprivate init(_ changes: OwnChanges, in core: StoreCore) {
        let names = Set(changes.new.keys.filter { changes.old[$0] != changes.new[$0] })
        self.init(
            names: names,
            old: changes.old.compactMapValues { $0 }.filter { names.contains($0.key) },
            new: changes.new.compactMapValues { $0 }.filter { names.contains($0.key) },
            origin: .local,
            secretNames: Set(names.filter(core.isSecret))
        )
    }
}
