internal import CPreferences
internal import Synchronization

/// The layers, names and observers of a store.
@usableFromInline
package final class StoreCore: @unchecked Sendable {  // all but the constants is guarded by the publish lock
    let publishing: PublishLock
    /// The layers, or none before the first use of a store that makes them then: those in which a name that is declared now has entries.
    @exclusivity(unchecked) private(set) var list: LayerList
    private let makeLayers: (@Sendable () -> [Layer])?
    private let hasLayers: Atomic<Bool>
    package let issues: IssueReporter
    /// The prefix of a scope's names in the store whose issue handler it uses.
    package let scope: String
    package let secrecy: Secrecy
    /// Whether `withIsolatedStores` replaces the store, so that its values aren't cached while a scope is open.
    let isShared: Bool
    /// Whether `noted` gets the names that change, and observers of the whole store are notified of hidden changes, too.
    let isFollowed: Bool
    /// The names that have changed since the follower has read them.
    @exclusivity(unchecked) var noted: Set<String> = []
    /// The store that this one replaces in a scope of isolated stores, which has the declarations; set before this one is used.
    @exclusivity(unchecked) private(set) var original: StoreCore?
    /// Whether the sources are open and the declarations checked, so that a read needs no preparation.
    let isPrepared = Atomic<Bool>(false)

    @exclusivity(unchecked) var nodes = NameTable<Node>()
    /// The former names in use.
    @exclusivity(unchecked) var claims = NameTable<Claim>()
    /// Mistakes in declarations, reported when the store is used next.
    @exclusivity(unchecked) var misuses: [PreferenceError] = []
    /// The descriptions of the issues that are reported once and were reported.
    @exclusivity(unchecked) private var reported: Set<String> = []
    @exclusivity(unchecked) var secretNames: Set<String> = []
    /// Those of them whose place is checked when the store is used next.
    @exclusivity(unchecked) var uncheckedSecrets: [String] = []
    @exclusivity(unchecked) var storeSubscriptions = Subscriptions()
    /// The views of the layers for observers of the whole store, while there are any.
    @exclusivity(unchecked) var views: [Views.View] = []
    /// The changes of the transaction that is being published.
    @exclusivity(unchecked) var published: [ChangeEntry] = []
    @exclusivity(unchecked) var queue: [ChangeBatch] = []
    /// The index of the next transaction in the queue.
    @exclusivity(unchecked) var next = 0
    @exclusivity(unchecked) var isDelivering = false
    @exclusivity(unchecked) var sequence: UInt64 = 0

    /// Creates a store over layers.
    ///
    /// - Parameter isLazy: Whether they are made when the store is first used; a declaration of a name is no use.
    init(
        _ makeLayers: @escaping @Sendable () -> [Layer],
        isLazy: Bool = false,
        issues: IssueReporter,
        scope: String = "",
        secrecy: Secrecy = .declared,
        isShared: Bool = false,
        isFollowed: Bool = false
    ) {
        (self.issues, self.scope, self.secrecy) = (issues, scope, secrecy)
        (self.isShared, self.isFollowed) = (isShared, isFollowed)
        self.makeLayers = isLazy ? makeLayers : nil
        hasLayers = Atomic(!isLazy)
        list = LayerList(isLazy ? [] : makeLayers())
        publishing = list.layers.first?.source.publishing ?? PublishLock()
        if isLazy { return }
        for layer in list.layers.dropFirst() { publishing.connect(layer.source.publishing) }
        noteLayers()
        if !list.goesStale, list.layers.allSatisfy(\.source.isOpen) { isPrepared.store(true, ordering: .relaxed) }
    }

    // MARK: Layers

    /// The strongest first; managed layers are the strongest, wherever they are listed. Not under a lock before the first use.
    package var layers: [Layer] { used.layers }
    /// The index of the layer that a set changes, the first that isn't read-only; their count if there is none.
    package var base: Int { used.base }
    /// Whether there is one layer, whose names and values are the store's.
    var isPlain: Bool { used.isPlain }
    var hasManaged: Bool { used.hasManaged }
    /// Whether a source is asked for single names.
    var hasKeyed: Bool { used.hasKeyed }
    /// Whether a source must be looked at before a read, so that nothing is cached.
    var goesStale: Bool { used.goesStale }

    /// Whether the layers are made, so that a name has entries in their sources.
    var isUsed: Bool { hasLayers.load(ordering: .acquiring) }

    private var used: LayerList {
        @inline(__always) get {
            if !isUsed { makeList() }
            return list
        }
    }

    @inline(never)
    private func makeList() {
        guard let makeLayers else { return }
        // If two threads get here, the first one's layers are used.
        let made = LayerList(makeLayers())
        for layer in made.layers { publishing.connect(layer.source.publishing) }
        let isFirst = publishing.withLock {
            if hasLayers.load(ordering: .relaxed) { return false }
            list = made
            hasLayers.store(true, ordering: .releasing)
            nodes.forEach { $0.attach(to: made, $0.formerNames) }
            return true
        }
        if isFirst { noteLayers() }
    }

    /// Has the sources know the store's issue handler, and its secrets.
    private func noteLayers() {
        let secrets = publishing.withLock { secretNames }
        for (index, layer) in list.layers.enumerated() {
            // A source may be several layers.
            let isKnown = list.layers[..<index].contains { $0.source === layer.source }
            if !isKnown, layer.source.issues !== issues { layer.source.add(issues) }
            for name in secrets { layer.source.noteSecret(layer.key(name)) }
        }
    }

    /// The layer that a set changes.
    package var writable: Layer? { base < layers.count ? layers[base] : nil }

    /// The source of that layer.
    package var target: Source? { used.target }
    /// Whether that layer's names begin with a prefix.
    var addsPrefix: Bool { used.addsPrefix }

    /// The index of the strongest layer that an update or a transaction reads: otherwise an argument, say, would be stored.
    var readBase: Int { base < layers.count ? base : 0 }

    /// The deadline of a blocking call that begins now. If more than the change might wait, its period has begun.
    var deadline: PreferenceDeadline {
        guard var deadline = target?.timeout else { return .never }
        return hasKeyed || !isPrepared.load(ordering: .relaxed) ? deadline.start() : deadline
    }

    // MARK: Issues

    /// Reports to the store's handler or, without one, as the source does if the store was created over it.
    package func report(_ error: PreferenceError) {
        let error = whole(error)
        for handler in handlers { handler.report(error) }
    }

    private var handlers: [IssueReporter] {
        if !issues.hasHandler, let source = layers.first?.source, source.issues === issues { return source.handlers }
        return [issues]
    }

    /// Reports an issue of a declared preference unless this store has reported it.
    func reportOnce(_ issue: PreferenceError) {
        let description = issue.description
        if publishing.withLock({ reported.insert(description).inserted }) { report(issue) }
    }

    /// Reports a stored value that can't be used, unless the handler was notified of it and the value hasn't changed since.
    func report(_ problem: UnreadableValue, of node: Node) {
        let new = handlers.filter { handler in
            publishing.withLock { node.isNew(problem.key, of: problem.candidate, to: handler.id) }
        }
        if new.isEmpty { return }
        let error = whole(problem.error)
        for handler in new { handler.report(error) }
    }

    /// Reports once that a stronger layer has another value of a name that was set.
    func reportHidden(_ name: String) {
        if base > 0 { reportHidden(name, by: publishing.withLock { candidates(name).first }) }
    }

    /// Reports once that the value of a stronger layer hides one that was set.
    func reportHidden(_ name: String, by candidate: Candidate?) {
        guard let candidate, candidate.layer < base else { return }
        reportOnce(
            PreferenceError(
                .hidden,
                name: name,
                "the value is stored, but the layer \"\(layers[candidate.layer].name)\" has another one, which is read"
            )
        )
    }

    /// Makes this the store that replaces another one, whose mistakes in declarations it reports.
    func replace(_ original: StoreCore) {
        self.original = original
        let misuses = original.publishing.withLock { exchange(&original.misuses, with: []) }
        for misuse in misuses { noteMisuse(misuse) }
    }

    /// Notes a mistake in a declaration, which is reported when the store is used next: nothing is read by a declaration.
    func noteMisuse(_ error: PreferenceError) {
        publishing.withLock {
            misuses.append(error)
            isPrepared.store(false, ordering: .releasing)
        }
    }

    /// Returns the error with the whole name of a scope's preference, including the prefix.
    private func whole(_ error: PreferenceError) -> PreferenceError {
        guard !scope.isEmpty, let name = error.name, !name.hasPrefix(scope) else { return error }
        return error.of(scope + name)
    }

    // MARK: Reading

    /// Values that a source is going to have, by its names.
    typealias SourceChanges = (source: Source, values: [String: PropertyListValue?])

    /// Opens the sources that nobody has tried to open, looks at those that are stale, and reports mistakes in declarations; reading doesn't
    /// fail.
    ///
    /// - Parameters:
    ///   - deadline: That of the call; without one, each source has its own, from now on.
    ///   - changed: A source that the call opens itself.
    func prepare(until deadline: PreferenceDeadline? = nil, except changed: Source? = nil) {
        if !isPrepared.load(ordering: .acquiring) { prepareSources(deadline, changed) }
    }

    @inline(never)
    private func prepareSources(_ deadline: PreferenceDeadline?, _ changed: Source?) {
        let closed = layers.filter { $0.source.isClosed && $0.source !== changed }
        var deadlines = closed.map { deadline ?? $0.source.timeout }
        for index in deadlines.indices { _ = deadlines[index].start() }
        for (layer, deadline) in zip(closed, deadlines) {
            do { try layer.source.open(until: deadline) } catch {
                // The source has reported it, unless this thread must not open it, or is one of a child of `fork`.
                guard let error = error as? PreferenceError, error.code == .misuse else { continue }
                reportOnce(error)
                if !layer.source.isForeign { layer.source.lookLater() }
            }
        }
        if goesStale { for layer in layers { layer.source.lookIfStale() } }
        let isPrepared = !goesStale && layers.allSatisfy(\.source.isOpen)
        let (misuses, secrets) = publishing.withLock {
            self.isPrepared.store(isPrepared, ordering: .releasing)
            return (exchange(&self.misuses, with: []), exchange(&uncheckedSecrets, with: []))
        }
        for misuse in misuses { reportOnce(misuse) }
        if !secrets.isEmpty { checkPlainText(of: secrets) }
    }

    /// Returns the stored values of a name alone, the strongest first; call under the publish lock.
    func candidates(_ name: String, from base: Int = 0, with changes: SourceChanges? = nil) -> [Candidate] {
        var found: [Candidate] = []
        for (index, layer) in layers.enumerated().dropFirst(base) {
            let key = layer.key(name)
            let changed = changes.flatMap { layer.source === $0.source ? $0.values[key] : nil }
            if let value = changed ?? layer.source.table[key] {
                found.append(Candidate(value: value, layer: index, name: 0))
            }
        }
        return found
    }

    /// Returns the value that the writable layer has under a preference's name, else under a former one.
    package func ownValue(ofPreference name: String) -> Candidate? {
        let node = node(name)
        prepare(.node(node))
        return publishing.withLock { node.candidates(from: base).first { $0.layer == base } }
    }

    /// Returns the stored values of a node that an update reads: those of the writable layer and the layers below it, with what isn't shown
    /// yet. Call under the publish lock.
    func newest(_ node: Node, with changes: SourceChanges? = nil) -> [Candidate] {
        node.candidates(from: readBase, with: unshown(under: changes))
    }

    /// Returns the stored values of a name alone that an update reads; call under the publish lock.
    func newest(_ name: String, with changes: SourceChanges? = nil) -> [Candidate] {
        candidates(name, from: readBase, with: unshown(under: changes))
    }

    func unshown(under changes: SourceChanges?) -> SourceChanges? {
        guard let source = target, !source.unshown.isEmpty else { return changes }
        return (source, source.unshown.merging(changes?.values ?? [:]) { $1 })
    }

    /// Returns the stored values of a node and the stamp of a cell that may be filled from them, registered with Observation.
    ///
    /// - Parameter usesWeaker: Whether the reader depends on more than the strongest value.
    func read(
        _ node: Node,
        _ cell: PreferenceCell,
        usesWeaker: Bool = false
    ) -> (candidates: [Candidate], ticket: UInt64) {
        prepare(.node(node))
        while true {
            let registered = node.signal.currentEpoch
            node.signal.access()
            let (candidates, ticket, epoch) = publishing.withLock {
                if usesWeaker { node.usesWeaker = true }
                return (node.candidates(), cell.ticket, node.signal.noteRead())
            }
            // A change in between has ended the epoch with which the reader registered.
            if epoch == registered { return (candidates, ticket) }
        }
    }

    /// Fills a cell unless there was a change since; returns false if the value must be read again, as it isn't the strongest candidate's and
    /// the change wasn't signalled.
    ///
    /// - Parameter isFirst: Whether the strongest candidate is used.
    func fill<Value: Sendable>(
        _ cell: PreferenceCell,
        _ value: Value?,
        of node: Node,
        ticket: UInt64,
        isFirst: Bool
    ) -> Bool {
        var replaced: Value?
        let isCurrent = publishing.withLock {
            guard cell.ticket == ticket else { return isFirst }
            if !isFirst { node.usesWeaker = true }
            let isKept = !goesStale && (!hasKeyed || node.isKnown) && !(isShared && IsolationScope.areOpen)
            if isKept { replaced = cell.fill(value) }
            return true
        }
        withExtendedLifetime(replaced) {}
        return isCurrent
    }

    /// Makes each later read go to the store.
    func dropCachedValues() { publishing.withLock { nodes.forEach { $0.invalidate() } } }

    // MARK: Changing

    /// Returns the source that a set changes; throws if none can be set now.
    private func checkedTarget(_ deadline: PreferenceDeadline? = nil) throws(PreferenceError) -> Source {
        guard let target else { throw readOnlyError }
        guard preferences_state().pointee.depth <= Self.depthLimit else {
            throw PreferenceError(
                .feedbackLoop,
                "observers kept setting the values that they observe; nothing was changed. Set only what differs"
            )
        }
        // One that isn't open yet is opened with the deadline of the change.
        if !isPrepared.load(ordering: .acquiring), layers.count > 1 || target.isOpen {
            prepareSources(deadline, target)
        }
        return target
    }

    var readOnlyError: PreferenceError {
        PreferenceError(
            .readOnly,
            layers.count == 1
                ? "the \(layers[0].name) store can't be written; nothing was changed"
                : "all layers of the store are read-only; nothing was changed. Add a writable layer, such as a file or a memory store"
        )
    }

    /// The former names of a preference that are in use.
    func formerNames(of node: Node) -> [String] { claims.count == 0 ? [] : publishing.withLock { node.formerNames } }

    /// The changes that store a value under a preference's name, and remove its former names.
    func changes(of node: Node, to value: PropertyListValue?) -> [StoredChange] {
        let names = formerNames(of: node)
        if names.isEmpty { return [StoredChange(node.name, value, isPlain ? node : nil)] }
        return [StoredChange(node.name, value)] + names.map { StoredChange($0, nil) }
    }

    /// The changes by the names of the writable layer.
    private func keyed(_ changes: [StoredChange]) -> [StoredChange] {
        addsPrefix ? changes.map { StoredChange(layers[base].key($0.name), $0.value) } : changes
    }

    /// Checks that no name is managed, and notifies the observers that come before it, once, however often it is then tried; returns the
    /// number of the last one.
    private func announce(
        _ changes: [StoredChange],
        until deadline: PreferenceDeadline? = nil
    ) throws(PreferenceError) -> UInt64 {
        let isObserved = Self.willSetCount.load(ordering: .relaxed) > 0
        if hasKeyed, hasManaged || isObserved {
            for change in changes { prepare(.name(change.name), until: deadline) }
        }
        if hasManaged { try checkManaged(changes) }
        return isObserved ? notifyEarly(changes) : 0
    }

    /// Changes the writable layer for a property, which doesn't wait for long; returns what is to be reported.
    func set(_ changes: [StoredChange]) -> PreferenceError? {
        do throws(PreferenceError) {
            let target = try checkedTarget()
            let announced = try announce(changes)
            return target.set(isFixed: true) { _ in (keyed(changes), announced) }
        } catch { return error }
    }

    /// Changes the writable layer for a property by what `body` returns for the stored values, which runs in the turn, or for those that
    /// are shown while the turn can't be had.
    func set(_ body: () throws -> [StoredChange]) -> PreferenceError? {
        let target: Source
        do throws(PreferenceError) { target = try checkedTarget() } catch { return error }
        // The observers are notified once, also if it is tried twice.
        var announced: UInt64?
        return target.set(isFixed: false) { _ in
            let changes = try body()
            if hasManaged { try checkManaged(changes) }
            let number = announced ?? (Self.willSetCount.load(ordering: .relaxed) > 0 ? notifyEarly(changes) : 0)
            announced = number
            return (keyed(changes), number)
        }
    }

    /// Changes the writable layer.
    func write(_ changes: [StoredChange]) throws {
        let deadline = deadline
        let target = try checkedTarget(deadline)
        let announced = try announce(changes, until: deadline)
        let changes = keyed(changes)
        try target.change(until: deadline) { _ in (changes, announced) }
    }

    nonisolated(nonsending) func write(_ changes: [StoredChange]) async throws {
        try Source.checkCancellation()
        guard let source = target else { throw readOnlyError }
        var timeout = source.timeout
        let deadline = timeout.start()
        if layers.count > 1 || hasKeyed { try await prepare(source, until: deadline, isQueued: false) }
        _ = try checkedTarget(deadline)
        let announced = try announce(changes, until: deadline)
        let changes = keyed(changes)
        try await source.perform(until: deadline) { deadline in
            try source.change(until: deadline) { _ in (changes, announced) }
        }
    }

    /// Opens the sources on a thread of the pool.
    nonisolated(nonsending) func prepare(_ source: Source, until deadline: PreferenceDeadline, isQueued: Bool)
        async throws
    {
        // A keyed backend that never waits is asked where the task runs.
        if isPrepared.load(ordering: .acquiring), !hasKeyed || source.saysWhenItWaits { return }
        try await source.perform(until: deadline, isQueued: isQueued) { [self] in
            if $0.isNow { throw PreferenceDeadline.WouldWait() }
            prepare(.all, until: $0)
        }
    }

    /// Changes the writable layer by the names that `body` returns, which runs in the turn; see `Source.change`.
    ///
    /// - Parameter names: Those that the body reads.
    func change(
        until deadline: PreferenceDeadline,
        reading names: NamesInUse = .all,
        _ body: (inout Effects) throws -> [StoredChange]
    ) throws {
        let target = try checkedTarget(deadline)
        var deadline = deadline
        if hasKeyed { try askBeforeChange(for: names, until: deadline.start()) }
        try target.change(until: deadline) { effects in
            let made = try body(&effects)
            if hasManaged { try checkManaged(made) }
            // The body has just decided; the observers run in the turn.
            let number = Self.willSetCount.load(ordering: .relaxed) > 0 ? notifyEarly(made) : 0
            return (keyed(made), number)
        }
    }

    private func checkManaged(_ changes: [StoredChange]) throws(PreferenceError) {
        for layer in layers where layer.isManaged {
            guard let error = layer.source.openingError else { continue }
            throw PreferenceError(
                .managed,
                name: changes.first?.name,
                "the managed settings can't be read, so that each name might be managed; nothing was changed",
                cause: error
            )
        }
        let managed = publishing.withLock { changes.first { isManagedHere($0.name) } }
        guard let managed else { return }
        throw PreferenceError(
            .managed,
            name: managed.name,
            "the value is managed by an administrator and can't be changed here; nothing was changed"
        )
    }

    /// Returns whether a managed layer has a value under a name, or another name of its preference; call under the publish lock.
    func isManagedHere(_ name: String) -> Bool {
        let node = claims[name]?.node ?? nodes[name]
        let found = node?.candidates() ?? candidates(name)
        return found.contains { layers[$0.layer].isManaged }
    }
}
