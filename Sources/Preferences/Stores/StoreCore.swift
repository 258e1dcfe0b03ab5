internal import DurableFile
internal import Synchronization

/// The implementation of a store: its layers, names, subscriptions and deliveries.
///
/// Sources retain it, and it doesn't retain the `PreferenceStore`: when the last user releases that, its deinitializer removes
/// the core from the sources.
package final class StoreCore: Sendable {
    /// A number that increases with each store of the process: several stores are locked in this order.
    let id: UInt64
    let state = Lock(StoreState())
    package let issues: IssueReporter
    /// The prefix of a scope's names in the store whose issue handler it uses.
    package let scope: String
    let secrecy: Secrecy
    /// Whether all values are secrets.
    var isSecret: Bool { secrecy == .all }
    /// The store that this one is a copy of, if it has a copy's values: what depends on the newest values is done there.
    let target: PreferenceStore?
    /// The checks of the declared preferences, if the store keeps them.
    package let checks: DeclaredChecks?
    let making: Lock<Making?>
    private let isMade = Atomic(false)
    private let knowsFormerNames = Atomic(false)
    /// The core of the store that this one replaces; written once, before the store is used.
    nonisolated(unsafe) var original: StoreCore?
    // Written once, under the lock `making` and before `isMade`. Each access of an `AtomicLazyReference` took 400 instructions.
    nonisolated(unsafe) private var list: LayerList?
    private static let count = Atomic<UInt64>(0)
    /// The place among the participants of a `fork`; written once, in the initializer.
    nonisolated(unsafe) private var forkPlace = 0

    /// The creation of the layers; in a struct, as the state of a lock must not be a bare function.
    struct Making {
        let layers: @Sendable () -> [Layer]
    }

    init(
        issues: IssueReporter,
        scope: String = "",
        secrecy: Secrecy = .declared,
        checks: DeclaredChecks? = nil,
        target: PreferenceStore? = nil,
        layers: @escaping @Sendable () -> [Layer]
    ) {
        id = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        self.issues = issues
        self.scope = scope
        self.secrecy = secrecy
        self.checks = checks
        self.target = target
        making = Lock(Making(layers: layers))
        forkPlace = ForkGate.add(self)
        SharedLocks.add()
    }

    deinit { ForkGate.remove(forkPlace) }

    /// Whether a preference of the store has, or had, former names.
    var hasFormerNames: Bool {
        get { knowsFormerNames.load(ordering: .acquiring) }
        set { knowsFormerNames.store(newValue, ordering: .releasing) }
    }

    /// The layers; created at the first use, and then always the same.
    package var layers: LayerList { madeLayers ?? makeLayers() }

    /// The layers, if they were created.
    var madeLayers: LayerList? { isMade.load(ordering: .acquiring) ? list : nil }

    /// Whether there are layers above the writable one; true if the layers were not created yet.
    var mayHaveStrongerLayers: Bool { !isMade.load(ordering: .acquiring) || list?.base != 0 }

    private func makeLayers() -> LayerList {
        guard let make = making.withLock({ $0 }) else { return layers }
        // Without the lock, because it may create other stores. If two threads get here, the first one's layers are used.
        let new = LayerList(make.layers())
        let (made, replaced) = making.withLock { making in
            let replaced = exchange(&making, with: nil)
            if replaced != nil { list = new }
            isMade.store(true, ordering: .releasing)
            return (list ?? new, replaced)
        }
        withExtendedLifetime(replaced) {}
        return made
    }

    /// The layers, with the store attached to their sources.
    package var attachedLayers: LayerList {
        let list = layers
        if !list.isAttached.load(ordering: .acquiring) {
            for layer in list.layers { layer.source.attach(self) }
            checkDeclarations(in: list)
        }
        return list
    }

    /// The layers, if a read or a set need not prepare them; otherwise nil.
    private var layersIfPrepared: LayerList? {
        guard let list = madeLayers, list.isAttached.load(ordering: .acquiring),
            list.isPrepared.load(ordering: .acquiring)
        else { return nil }
        return list
    }

    /// Returns the layers, opened, and queried for these names if they are queried by name.
    package func preparedLayers(
        _ names: some Collection<String> & Sendable = EmptyCollection(),
        _ call: StoreCall? = nil
    ) -> LayerList {
        let list = attachedLayers
        guard !list.isPrepared.load(ordering: .acquiring) else { return list }
        for layer in list.layers {
            if layer.prefix.isEmpty {
                layer.source.prepare(names, call)
            } else {
                layer.source.prepare(names.map(layer.spelled), call)
            }
        }
        if list.layers.allSatisfy(\.source.isPrepared) { notePrepared(list) }
        return list
    }

    /// Returns the layers prepared for a commit, and its call, which began before anything was opened.
    private func preparedLayers(
        for changes: ValueChanges,
        _ call: StoreCall?
    ) throws(PreferenceError) -> (LayerList, StoreCall?) {
        let call = call ?? beginCall()
        try checkThread(of: call)
        let list =
            switch changes {
            case .one(let name, _): preparedLayers(CollectionOfOne(name), call)
            case .several(let changes): preparedLayers(changes.keys, call)
            }
        return (list, call)
    }

    /// Returns the time until which the call may run its body again; nil for no limit but that of the backend.
    func deadline(of call: StoreCall?) -> ContinuousClock.Instant? {
        guard let call, let writable = layers.writable, !writable.isSlow else { return nil }
        return writable.deadline(of: call)
    }

    /// Throws if a change must not block the thread, before opening anything for it.
    func checkThread(of call: StoreCall?) throws(PreferenceError) {
        guard let call else { return }
        let list = attachedLayers
        for layer in list.layers where layer.source === list.writable || !layer.source.isPrepared {
            try layer.source.checkThread(of: call)
        }
    }

    /// Removes the store from its sources; called when the store is deinitialized.
    func detach() {
        guard let list = madeLayers else { return }
        for layer in list.layers { layer.source.detach(self) }
    }

    /// Reports an error to this store's handler. If it has none and the store was created over a source of its own, reports to the
    /// handlers of all stores that show that source.
    func report(_ error: PreferenceError) {
        IssueReporter.report(whole(error), to: reporters)
    }

    /// Reports an issue of a declared preference unless it was reported before, also by another scope of the store.
    func reportOnce(_ issue: PreferenceError) {
        if issues.noteReported(whole(issue)) { report(issue) }
    }

    /// Returns the error with the whole name of a scope's preference, including the prefix.
    private func whole(_ error: PreferenceError) -> PreferenceError {
        guard !scope.isEmpty, let name = error.name, !name.hasPrefix(scope) else { return error }
        var error = error
        error.name = scope + name
        return error
    }

    /// Reports an unreadable stored value to each handler that was not notified of it yet.
    func report(_ problem: UnreadableValue, of name: String) {
        // A source forgets who was notified when the name that it stores changes.
        let name = problem.formerName ?? name
        let layers = madeLayers?.layers.filter { $0.source === problem.source } ?? []
        // A scope layered over its own store shows the source twice.
        guard let layer = layers.first(where: { $0.value(of: name) == problem.value }) ?? layers.first else {
            return report(problem.error)
        }
        let reporters = layer.source.reporters(for: problem.key, of: layer.spelled(name), among: reporters)
        if !reporters.isEmpty { IssueReporter.report(whole(problem.error), to: reporters) }
    }

    private var reporters: [IssueReporter] {
        guard !issues.hasHandler, let layer = madeLayers?.layers.first, layer.source.issues === issues else {
            return [issues]
        }
        return layer.source.reporters
    }
}

// MARK: Reading

extension StoreCore {
    /// Runs `body` with a consistent snapshot of the layers.
    func read<Result: Sendable>(_ names: some Collection<String> & Sendable, _ body: (LayerList) -> Result) -> Result {
        let list = preparedLayers(names)
        return state.withLock { _ in body(list) }
    }

    /// Returns the candidates for a name whose slot is stale, with the ticket for filling the slot, whether the value may be
    /// cached, and the epoch of the name; see `PreferenceSignal.noteRead`.
    func candidates(for name: String, cell: PreferenceCell, signal: PreferenceSignal, isOfValue: Bool)
        -> (StoredCandidates, ticket: UInt64, isKept: Bool, epoch: Int)
    {
        let list = preparedLayers(forPreference: name)
        let isQueriedByName = !list.isPrepared.load(ordering: .acquiring)
        let (candidates, names, ticket, epoch) = state.withLock { state in
            let ticket = cell.ticket
            if isQueriedByName { state.noteLoading(cell) }
            let names = state.formerNames[name]
            let epoch = signal.noteRead(isOfValue: isOfValue && cell.hasReading)
            return (list.candidates(for: name, formerly: names), names, ticket, epoch)
        }
        // Checked after reading the ticket: a value that becomes stale later makes the ticket invalid.
        let isKept =
            list.isPrepared.load(ordering: .acquiring)
            || !list.mayBeStale(name) && !names.contains(where: list.mayBeStale)
        return (candidates, ticket, isKept, epoch)
    }

    /// Returns the layers, opened, and queried for the names of a preference if they are queried by name.
    private func preparedLayers(forPreference name: String) -> LayerList {
        let list = preparedLayers(CollectionOfOne(name))
        guard !list.isPrepared.load(ordering: .acquiring) else { return list }
        let names = formerNames(of: name)
        return names.isEmpty ? list : preparedLayers(names)
    }

    /// Returns the candidates for the value of a preference, with a consistent snapshot of the layers.
    func candidates(for name: String) -> (LayerList, StoredCandidates) {
        let list = preparedLayers(forPreference: name)
        return state.withLock { state in (list, list.candidates(for: name, formerly: state.formerNames[name])) }
    }

    /// Returns the candidates that an update of a preference may read; throws if the writable layer can't be read.
    func base(for name: String, _ call: StoreCall? = nil) throws(PreferenceError) -> StoredCandidates {
        try checkRead(call)
        return shownBase(for: name)
    }

    /// The store with the newest values: this one, unless it is a copy.
    var newest: StoreCore { target?.core ?? self }

    /// Returns the candidates of the writable layer and those below it, also if they could not be read.
    func shownBase(for name: String) -> StoredCandidates {
        newest.shownBase(for: name, formerly: formerNames(of: name))
    }

    private func shownBase(for name: String, formerly names: [String]) -> StoredCandidates {
        for layer in layers.layers where layer.source.reentrant != nil {
            layer.source.revalidate(([name] + names).map(layer.spelled))
        }
        return read([name] + names) { $0.candidates(for: name, formerly: names, from: $0.base) }
    }

    /// Returns the snapshot that a transaction reads.
    func snapshot(_ call: StoreCall? = nil) -> StoreSnapshot {
        if let target { return target.core.snapshot(call) }
        prepareDeclared(call)
        for layer in layers.layers { layer.source.revalidateDeclared() }
        return read(EmptyCollection()) { StoreSnapshot(of: $0) }
    }

    /// Throws if the values of the writable layer could not be read, after trying again.
    func checkRead(_ call: StoreCall? = nil) throws(PreferenceError) {
        try checkThread(of: call)
        guard let source = preparedLayers(EmptyCollection(), call).writable, source.failure != nil else { return }
        do throws(PreferenceError) { try source.open(call) } catch { throw PreferenceError(unread: error).ofOpening }
    }

    /// Returns the value that the writable layer has under a name.
    func ownValue(of name: String) -> PropertyListValue? {
        newest.read(CollectionOfOne(name)) { list in list.writableIndex.flatMap { list.layers[$0].value(of: name) } }
    }

    /// All listed names, each with the value that it reads as.
    var contents: [String: PropertyListValue] {
        prepareDeclared()
        return read(EmptyCollection()) { $0.contents }
    }

    /// Returns whether a source must be queried for a name before it is read.
    func needsQuery(_ name: String) -> Bool {
        newest.layers.layers.contains { $0.source.needsQuery($0.spelled(name)) }
    }

    /// Queries the sources that are queried by name for all declared names.
    func prepareDeclared(_ call: StoreCall? = nil) {
        let list = attachedLayers
        guard !list.isPrepared.load(ordering: .acquiring) else { return }
        for layer in list.layers { layer.source.prepareDeclared(call) }
    }
}

// MARK: Committing

extension StoreCore {
    /// Stores all of `changes` or nothing, and notifies observers; returns false if values that were read have changed since.
    ///
    /// - Parameters:
    ///   - node: The node of the only changed name, if known.
    ///   - call: The call that this is a part of, if it began earlier.
    package func commit(
        _ changes: ValueChanges,
        ifStillHolds reads: TransactionReads? = nil,
        node: PreferenceNode? = nil,
        _ call: StoreCall? = nil
    ) throws(PreferenceError) -> Bool {
        var call = call
        let list: LayerList
        if let prepared = layersIfPrepared {
            list = prepared
        } else {
            (list, call) = try preparedLayers(for: changes, call)
        }
        guard let writable = list.uncountedWritable else { throw PreferenceError(readOnly: list, changes.onlyName) }
        if !FeedbackDepth.isFree { try checkUse(for: changes, isSet: reads?.condition.isOfMerge ?? true) }
        if !list.isPlain {
            for layer in list.layers where layer.isManaged { try layer.source.checkPolicy(call) }
            let (managed, isHolding) = state.withLock { state in
                let isHolding = target == nil ? reads?.holdBelow(in: list) ?? true : true
                return (list.managedName(among: changes, state.formerNames), isHolding)
            }
            if let name = managed ?? managedNameElsewhere(among: changes, in: list) {
                throw PreferenceError(managed: name)
            }
            guard isHolding, newestHold(reads) else { return false }
        }
        // Not by `Result(catching:)`, whose four frames would be in each profile of a set.
        let result: Result<Bool, PreferenceError> = writable._withUnsafeGuaranteedRef { writable in
            do throws(PreferenceError) {
                let newest = ChangeSubscription.newest
                if writable.hasEarlySubscriptions {
                    let spelled = list.writablePrefix.map(changes.prefixed) ?? changes
                    for core in writable.cores { try core.announce(spelled, in: writable, upTo: newest) }
                }
                let context = ChangeContext(
                    origin: .local,
                    announcedUpTo: newest,
                    initiator: ObjectIdentifier(self),
                    node: node
                )
                guard let prefix = list.writablePrefix else {
                    return .success(try writable.commit(changes, if: reads?.condition, context, call))
                }
                let condition = reads?.condition.prefixed(prefix)
                return .success(try writable.commit(changes.prefixed(prefix), if: condition, context, call))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

extension StoreCore {
    /// Returns whether the values that were read of a copied store are unchanged in the layers below the writable one.
    private func newestHold(_ reads: TransactionReads?) -> Bool {
        guard let target, let reads else { return true }
        let list = target.core.layers
        return target.core.state.withLock { _ in reads.holdBelow(in: list) }
    }

    /// Throws if the calling thread must not make the changes.
    @inline(never)
    func checkUse(for changes: ValueChanges, isSet: Bool) throws(PreferenceError) {
        try RunningBody.checkMayWait()
        guard FeedbackDepth.current <= FeedbackDepth.limit else {
            throw PreferenceError(loopOver: changes, limit: FeedbackDepth.limit)
        }
        if !isSet { try RunningBody.check(changes, in: self) }
    }
}

extension Source {
    /// Has the backend read external changes; call with the turn.
    func catchUpBackend() throws(PreferenceError) {
        do throws(PreferenceError) { try backend?.catchUp() } catch {
            // A network that doesn't answer has no policy that was never read.
            if backend is DropInBackend { isPolicyUnread.store(true, ordering: .relaxed) }
            throw error
        }
        isPolicyUnread.store(false, ordering: .relaxed)
    }

    /// Throws if the managed settings can't be read, because then any name may be managed.
    func checkPolicy(_ call: StoreCall?) throws(PreferenceError) {
        do throws(PreferenceError) {
            if isPolicyUnread.load(ordering: .relaxed) { try refresh(call) } else { try open(call) }
        } catch {
            throw PreferenceError(
                .managed,
                "the managed settings can't be read, so nothing was changed; fix the cause and try again",
                cause: error
            )
        }
    }
}

extension PreferenceError {
    fileprivate init(readOnly list: LayerList, _ name: String?) {
        let message =
            if list.layers.count == 1, let layer = list.layers.first {
                "the \(layer.name) store can't be written; nothing was changed"
            } else {
                "all layers of the store are read-only; nothing was changed. Add a writable layer, such as a file or a memory store"
            }
        self.init(.readOnly, name: name, message)
    }

    init(managed name: String) {
        self.init(
            .managed,
            name: name,
            "the value is managed by an administrator and can't be changed here; nothing was changed"
        )
    }
}

// MARK: Publishing

extension StoreCore {
    /// Runs `body` under the store's lock, after invalidating the cached values that `body` changes in a source.
    // Forced inline, as `invalidate` is: that saves reference counting.
    @inline(__always)
    func lock(
        invalidating changes: ShortList<ValueChange>,
        of source: Source,
        _ context: ChangeContext,
        into notifications: inout DeferredNotifications,
        _ body: (inout DeferredNotifications) -> Void
    ) {
        state.withLock { state in
            invalidate(changes, of: source, context, in: &state, into: &notifications)
            body(&notifications)
        }
    }

    /// Whether the store shows only a part of a source.
    var isScoped: Bool { madeLayers?.isScoped ?? false }

    /// Returns whether the store shows one of the names that change in a source.
    func shows(anyOf changes: ShortList<ValueChange>, of source: Source) -> Bool {
        guard let list = madeLayers, list.isScoped else { return true }
        return list.layers.contains { layer in
            layer.source === source && changes.firstResult { layer.preferenceName(of: $0.name) } != nil
        }
    }

    /// Invalidates all cached values, so that later reads look at the sources; call without a lock.
    func dropCachedValues() { state.withLock { $0.dropCachedValues() } }

    /// Invalidates the values that reads of sources that are queried by name may have cached since the last call; call without a lock.
    func dropLoadedValues() { state.withLock { $0.dropLoadedValues() } }

    /// Returns the names that were declared or observed, in the source's spelling; call without a lock.
    func names(in source: Source) -> Set<String> { spelled(state.withLock { $0.names }, in: source) }

    /// Returns the names with observers, or also those whose readers Observation may track, in the source's spelling; `nil` if an
    /// observer waits for changes of all names. Call without a lock.
    func observedNames(in source: Source, includingTracked: Bool) -> Set<String>? {
        state.withLock { $0.observedNames(includingTracked: includingTracked) }.map { spelled($0, in: source) }
    }

    private func spelled(_ names: Set<String>, in source: Source) -> Set<String> {
        guard let list = madeLayers, list.isScoped else { return names }
        return list.layers.reduce(into: []) { spelled, layer in
            if layer.source === source { spelled.formUnion(names.map(layer.spelled)) }
        }
    }

    /// Invalidates what this store cached of the changes, and enqueues them for its observers.
    ///
    /// Call with the store's lock, which is held until the source has changed.
    @inline(__always)
    private func invalidate(
        _ changes: ShortList<ValueChange>,
        of source: Source,
        _ context: ChangeContext,
        in state: inout StoreState,
        into notifications: inout DeferredNotifications
    ) {
        guard let list = madeLayers else { return }
        let isOwn = context.initiator == ObjectIdentifier(self)
        let hint = isOwn ? context.node : nil
        if state.invalidate(changes, of: source, in: list, context, hint: hint, into: &notifications) {
            notifications.addDelivery(by: self)
        }
        if isOwn, !list.isPlain { notifications.addHidden(state.hidden(changes, in: list), in: self) }
    }
}
