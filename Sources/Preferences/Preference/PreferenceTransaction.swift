internal import CPreferences

/// The stored values and the changes to make together, as the body of a transaction reads and writes them.
///
/// Reads see the stored values and the transaction's own writes. A subscript can't throw: the first error (an unreadable value,
/// a value that breaks its rule or can't be encoded, a preference of another store) is thrown when the body returns, and then nothing
/// is stored.
public struct PreferenceTransaction {
    let core: StoreCore
    /// Whether what is read is noted, to be compared when the changes are stored.
    private let isRecording: Bool
    /// The names that keyed sources were asked for because an earlier run of the body has read them.
    private let asked: Set<String>
    /// Names that keyed sources must be asked for before the body can read them.
    private(set) var unknown: [String] = []
    /// The values by the store's names.
    private(set) var edits: [String: PropertyListValue?] = [:]
    private(set) var reads: [Read] = []
    /// Report, when the changes are stored, that stronger layers hide them.
    private(set) var hidingReports: [() -> Void] = []
    /// The first error, because of which nothing is stored.
    private(set) var failure: PreferenceError?

    /// A value that the body of a task has read.
    enum Read: @unchecked Sendable {  // the node is used under the publish lock
        case preference(Node, [Candidate])
        case name(String, [Candidate])
        case all([String: PropertyListValue])

        func isUnchanged(in core: StoreCore) -> Bool {
            switch self {
            case .preference(let node, let found):
                core.publishing.withLock { core.newest(node) } == found
            case .name(let name, let found):
                core.publishing.withLock { core.newest(name) } == found
            case .all(let contents): core.newestContents(from: core.readBase) == contents
            }
        }
    }

    init(on core: StoreCore, isRecording: Bool, asked: Set<String> = []) {
        (self.core, self.isRecording, self.asked) = (core, isRecording, asked)
    }

    /// A transaction that notes what is read, for a body whose changes aren't made.
    var trial: PreferenceTransaction { PreferenceTransaction(on: core, isRecording: true, asked: asked) }

    /// The names of the writable source that the body has read; nil for all.
    fileprivate var readNames: Set<String>? {
        guard let layer = core.writable else { return [] }
        var names: Set<String> = []
        for read in reads {
            switch read {
            case .preference(let node, _): names.formUnion(core.names(of: node).map(layer.key))
            case .name(let name, _): names.insert(layer.key(name))
            case .all: return nil
            }
        }
        return names
    }

    var changes: [StoredChange] { edits.map { StoredChange($0.key, $0.value) } }

    /// The preference's value, or its default if nothing is stored.
    public subscript<Value>(preference: Preference<Value>) -> Value {
        mutating get {
            do throws(PreferenceError) { return try read(preference) } catch {
                fail(error)
                return preference.defaultValue
            }
        }
        set { do throws(PreferenceError) { try write(newValue, to: preference) } catch { fail(error) } }
    }

    /// Returns the preference's value; throws if the stored one can't be used.
    mutating func read<Value>(_ preference: Preference<Value>) throws(PreferenceError) -> Value {
        let declaration = try own(preference)
        let found = candidates(declaration.node)
        if let failure { throw failure }
        return try declaration.readStrictly(found) ?? declaration.makeDefault()
    }

    /// Stores a value with the transaction.
    mutating func write<Value>(_ value: Value, to preference: Preference<Value>) throws(PreferenceError) {
        let declaration = try own(preference)
        store(try declaration.encode(value, over: candidates(declaration.node)), of: declaration.node)
        if core.base > 0 { hidingReports.append { declaration.reportHidden() } }
    }

    mutating func apply(_ changes: [StoredChange]) {
        for change in changes { edits.updateValue(change.value, forKey: change.name) }
    }

    /// The value stored under a name, or `nil` if nothing is stored. Setting `nil` removes the value.
    public subscript(name: String) -> PropertyListValue? {
        mutating get { candidates(name).first?.value }
        set {
            guard !name.isEmpty else { return fail(PreferenceStore.emptyName) }
            edits.updateValue(newValue, forKey: name)
            if core.base > 0, newValue != nil { hidingReports.append { [core] in core.reportHidden(name) } }
        }
    }

    /// Removes the preference's stored value, so that the default applies; a member of a composite value is set to its
    /// default.
    public mutating func reset<Value>(_ preference: Preference<Value>) {
        guard preference.declaration.member == nil else { return self[preference] = preference.defaultValue }
        do throws(PreferenceError) { store(nil, of: try own(preference).node) } catch { fail(error) }
    }

    /// The names of all stored values, sorted.
    public var names: [String] {
        mutating get { contents.keys.sortedByBytes }
    }

    /// All stored values, by name.
    public var contents: [String: PropertyListValue] {
        mutating get { contents(from: core.readBase) }
    }

    /// Returns the values of some layers that would be listed if the transaction ended here.
    mutating func contents(from base: Int, to end: Int = .max) -> [String: PropertyListValue] {
        for key in core.locked.keys.sortedByBytes {
            if let name = core.writable?.name(of: key) { checkUnlocked([name]) }
        }
        if isRecording { reads.append(.all(core.newestContents(from: core.readBase))) }
        return core.newestContents(from: base, to: end, with: sourceChanges)
    }

    /// Whether a read of a name gives what the transaction sets.
    private func writes(_ name: String) -> Bool { edits[name]?.flatMap { $0 } != nil }

    private var sourceChanges: StoreCore.SourceChanges? {
        guard !edits.isEmpty, let target = core.target else { return nil }
        guard core.addsPrefix, let layer = core.writable else { return (target, edits) }
        return (target, Dictionary(uniqueKeysWithValues: edits.map { (layer.key($0.key), $0.value) }))
    }

    /// Returns the values of a preference that would be read if the transaction ended here.
    mutating func candidates(_ node: Node) -> [Candidate] {
        let core = core
        checkUnlocked(core.names(of: node))
        let changes = sourceChanges
        let (stored, found) = core.publishing.withLock {
            noteUnknown([node.name] + node.formerNames)
            let found = core.newest(node, with: changes)
            return (isRecording ? core.newest(node) : [], found)
        }
        if isRecording, !writes(node.name) { reads.append(.preference(node, stored)) }
        return found
    }

    /// Returns the values of a name that would be read if the transaction ended here.
    mutating func candidates(_ name: String) -> [Candidate] {
        checkUnlocked([name])
        let changes = sourceChanges
        let (stored, found) = core.publishing.withLock {
            noteUnknown([name])
            let found = core.newest(name, with: changes)
            return (isRecording ? core.newest(name) : [], found)
        }
        if isRecording, !writes(name) { reads.append(.name(name, stored)) }
        return found
    }

    /// Fails if the writable layer's value of the first of these names that has one is locked.
    private mutating func checkUnlocked(_ names: @autoclosure () -> [String]) {
        do throws(PreferenceError) { try core.checkUnlocked(names(), after: edits) } catch { fail(error) }
    }

    /// Notes the names that keyed sources weren't asked for.
    private mutating func noteUnknown(_ names: @autoclosure () -> [String]) {
        guard core.hasKeyed else { return }
        unknown += names().filter { core.isUnknown($0) && !asked.contains($0) }
    }

    /// Stores a value under a preference's name alone, or removes the value.
    mutating func store(_ value: PropertyListValue?, of node: Node) {
        apply(core.changes(of: node, to: value))
    }

    func own<Value>(_ preference: Preference<Value>) throws(PreferenceError) -> PreferenceDeclaration<Value> {
        let declaration = preference.declaration.resolved
        if declaration.store.core === core { return declaration }
        throw PreferenceError(
            .wrongStore,
            name: preference.name,
            "the preference belongs to another store than the transaction; use bound(to:) or a transaction of its store"
        )
    }

    mutating func fail(_ error: PreferenceError) { failure = failure ?? error }
}

extension PreferenceTransaction: CustomReflectable {
    /// A mirror without children, which would have the values of secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: Running a body

extension StoreCore {
    /// Changes several names as one; the body runs once, in the turn.
    ///
    /// - Parameter names: Those that the body reads.
    func transact<Result>(
        reading names: NamesInUse = .all,
        until deadline: PreferenceDeadline? = nil,
        _ body: (inout PreferenceTransaction) throws -> Result
    ) throws -> Result {
        // A store that can't be changed is read without a turn.
        guard let target else {
            let (result, transaction) = try rehearse(body)
            guard let change = transaction.changes.first else { return result }
            throw transaction.edits.count == 1 ? readOnlyError.named(change.name) : readOnlyError
        }
        var asked: Set<String> = []
        let deadline = deadline ?? self.deadline
        while true {
            var result: Result?
            var hidingReports: [() -> Void] = []
            do {
                try change(until: deadline, reading: names) { effects in
                    let start = preferences_now()
                    var transaction = begunTransaction(asked)
                    result = try run(body, &transaction)
                    let duration = preferences_now() - start
                    if duration >= target.longBody { effects.report(Self.longBody(duration)) }
                    hidingReports = transaction.hidingReports
                    return transaction.changes
                }
            } catch let error as UnknownNames {
                for name in error.names { try ask(for: .name(name), until: deadline) }
                asked.formUnion(error.names)
                continue
            }
            guard let result else { fatalError("a backend that didn't throw has run the body") }
            for report in hidingReports { report() }
            return result
        }
    }

    /// Runs a body without the turn; its changes aren't made.
    func rehearse<Result>(
        _ body: (inout PreferenceTransaction) throws -> Result
    ) throws -> (Result, PreferenceTransaction) {
        var asked: Set<String> = []
        while true {
            var transaction = begunTransaction(asked)
            do { return (try run(body, &transaction), transaction) } catch let error as UnknownNames {
                for name in error.names { try ask(for: .name(name)) }
                asked.formUnion(error.names)
            }
        }
    }

    private func begunTransaction(_ asked: Set<String>) -> PreferenceTransaction {
        prepare()
        // A program's backend might compare what is read.
        let isRecording = target.map { $0.own == nil } ?? false
        return PreferenceTransaction(on: self, isRecording: isRecording, asked: asked)
    }

    // Not with the transaction as a result: generic code looks up the type of a tuple at each call.
    private func run<Result>(
        _ body: (inout PreferenceTransaction) throws -> Result,
        _ transaction: inout PreferenceTransaction
    ) throws -> Result {
        let result: Result
        do { result = try body(&transaction) } catch {
            // It might have failed because it has read a name as absent.
            throw transaction.unknown.isEmpty ? error : UnknownNames(names: transaction.unknown)
        }
        target?.noteRead(transaction.readNames)
        if !transaction.unknown.isEmpty { throw UnknownNames(names: transaction.unknown) }
        if let failure = transaction.failure { throw failure }
        return result
    }

    /// The body has read names that keyed sources must be asked for first, without the turn.
    private struct UnknownNames: Error { let names: [String] }

    private static func longBody(_ nanoseconds: Int64) -> PreferenceError {
        PreferenceError(
            .misuse,
            "the body of an update or transaction ran for \(nanoseconds / 1_000_000_000) s, in which nobody else could change the store. Do less in the body"
        )
    }

    /// Others changed what the body had read.
    private struct Conflict: Error {}

    /// Runs a body where the task runs, without the turn, and changes the store if what it has read is still the same; else again.
    nonisolated(nonsending) func transact<Result>(
        until deadline: PreferenceDeadline? = nil,
        _ body: (inout PreferenceTransaction) throws -> Result
    ) async throws -> Result {
        try Source.checkCancellation()
        guard let source = target else { return try blockingTransact(body) }
        var timeout = deadline ?? source.timeout
        let deadline = timeout.start()
        try await source.enterQueue(until: deadline)
        defer { source.tasks.leave() }
        try await prepare(source, until: deadline, isQueued: true)
        var asked: Set<String> = []
        while true {
            if source.mayWait {
                try await source.perform(until: deadline, isQueued: true) { try source.look(until: $0) }
            }
            var transaction = PreferenceTransaction(on: self, isRecording: true, asked: asked)
            let result = Swift.Result { try body(&transaction) }
            let unknown = transaction.unknown
            if unknown.isEmpty {
                _ = try result.get()
                if let failure = transaction.failure { throw failure }
            }
            let (changes, reads, names) = (transaction.changes, transaction.reads, transaction.readNames)
            let isDone = try await source.perform(until: deadline, isQueued: true) { [self] deadline in
                if !unknown.isEmpty {
                    if deadline.isNow { throw PreferenceDeadline.WouldWait() }
                    for name in unknown { try ask(for: .name(name), until: deadline) }
                    return false
                }
                do {
                    try change(until: deadline) { _ in
                        guard reads.allSatisfy({ $0.isUnchanged(in: self) }) else { throw Conflict() }
                        source.noteRead(names)
                        return changes
                    }
                    return true
                } catch is Conflict { return false }
            }
            if isDone {
                for report in transaction.hidingReports { report() }
                return try result.get()
            }
            asked.formUnion(unknown)
            try Source.checkCancellation()
            guard deadline.rest != 0 else { throw Self.conflict(source) }
        }
    }

    private func blockingTransact<Result>(_ body: (inout PreferenceTransaction) throws -> Result) throws -> Result {
        try transact(body)
    }

    private static func conflict(_ source: Source) -> PreferenceError {
        PreferenceError(
            .conflict,
            "the values that the body had read kept changing for \(source.backend.timeout); nothing was changed. "
                + "Try again, or do less in the body"
        )
    }

    /// Changes the writable layer by what `body` returns for the stored values; the task is suspended when that has to wait.
    nonisolated(nonsending) func change(_ body: @escaping @Sendable () throws -> [StoredChange]) async throws {
        try Source.checkCancellation()
        guard let source = target else { throw readOnlyError }
        var timeout = source.timeout
        let deadline = timeout.start()
        if layers.count > 1 { try await prepare(source, until: deadline, isQueued: false) }
        try await source.perform(until: deadline) { [self] deadline in
            try change(until: deadline) { _ in try body() }
        }
    }

    /// Returns the listed values that an update reads.
    func newestContents(
        from base: Int,
        to end: Int = .max,
        with changes: SourceChanges? = nil
    ) -> [String: PropertyListValue] {
        contents(from: base, to: end, with: publishing.withLock { unshown(under: changes) })
    }

    /// Returns the listed values of the layers from an index on, up to another one, by the store's names.
    func contents(
        from base: Int = 0,
        to end: Int = .max,
        with changes: SourceChanges? = nil
    ) -> [String: PropertyListValue] {
        var found: [String: PropertyListValue] = [:]
        for layer in layers[base..<min(end, layers.count)].reversed() where layer.spelling == nil {
            let changed = changes.flatMap { layer.source === $0.source ? $0.values : nil } ?? [:]
            for (key, value) in layer.source.contents where changed.index(forKey: key) == nil {
                if let name = layer.name(of: key) { found[name] = value }
            }
            for case (let key, let value?) in changed { if let name = layer.name(of: key) { found[name] = value } }
        }
        return found
    }

    /// The listed values at one moment; under the publish lock.
    var contentsUnderLock: [String: PropertyListValue] {
        var found: [String: PropertyListValue] = [:]
        for layer in layers.reversed() {
            layer.source.table.forEach {
                if let name = layer.name(of: $0.name) { found[name] = $0.value ?? found[name] }
            }
        }
        return found
    }
}
