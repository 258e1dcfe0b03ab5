internal import DurableFile

extension Preference {
    /// The current value, then each change, in order.
    ///
    /// The sequence begins when an iterator is created. A slow consumer loses no values.
    public var updates: PreferenceUpdates<Value> { updates() }

    /// Returns each change in order, by default after the current value.
    public func updates(
        includingCurrent: Bool = true,
        buffering: PreferenceBuffering = .unbounded
    ) -> PreferenceUpdates<Value> {
        PreferenceUpdates(buffering: buffering) { yield in
            let preference = inUse
            return [
                preference.subscribe(
                    begin: { candidates in
                        // No consumer waits for the first element yet, so yielding it resumes none.
                        if includingCurrent { yield { preference.value(of: candidates) } }
                    }
                ) { entry, _ in
                    yield { preference.value(of: entry.new) }
                }
            ]
        }
    }

    /// Calls `body` for each change, until the returned observation is cancelled or released.
    ///
    ///     observation = preferences.$volume.observe(includingCurrent: true) { [weak self] change in
    ///         self?.label.text = "\(change.new)"
    ///     }
    ///
    /// The body has the isolation of the code around it: written in an actor or a class on the main actor, it may use
    /// their state.
    ///
    /// - Without isolation, the body is called on the thread that made the change, before its set returns. A set that is made inside
    ///   an observer of the store, or while another thread delivers, is delivered next by the thread that delivers. External
    ///   changes are delivered on a thread of the library.
    /// - On the main actor, a change that is made there calls the body before the set returns, unless another thread delivers
    ///   at that time. For every other change, the body is called there soon after. If the main actor is blocked, it isn't called.
    ///   The main actor isn't always the main thread: on Linux, an asynchronous program's main actor runs on other threads.
    /// - On another actor, the body is called there soon after the change. Such a body holds its actor: an actor that keeps the
    ///   observation is released only after `cancel()`.
    ///
    /// The body is always called in the store's order and without a lock held: it may read, write, observe and cancel.
    /// After `cancel()` it isn't called for changes that are still waiting.
    ///
    /// - Parameters:
    ///   - timing: With `.willSet`, the body is called on the setting thread while `value` is still the old one; a set that then
    ///     fails was announced as well. An external change is announced when its value can already be read. A body isolated to the
    ///     main actor is called before a set that is made there; for other sets, and on other actors, it has to wait for its actor,
    ///     and may then find the new value or a later one.
    ///   - includingCurrent: Whether the body is first called with the current value as `old` and `new`.
    ///   - body: The closure to call for each change.
    public func observe(
        at timing: PreferenceTiming = .didSet,
        includingCurrent: Bool = false,
        @_inheritActorContext _ body: @escaping @isolated(any) @Sendable (PreferenceChange<Value>) -> Void
    ) -> PreferenceObservation {
        let observer = Observer(of: inUse, body)
        if !includingCurrent, observer.hasNoIsolation {
            return observer.preference.subscribe(timing: timing) { entry, origin in
                observer.call(old: entry.old, new: entry.new, origin: origin)
            }
        }
        let observation = observer.preference.subscribe(
            timing: timing,
            begin: { if includingCurrent { observer.enqueue(old: $0, new: $0, origin: .local) } }
        ) { entry, origin in
            // A `willSet` call on this thread can't wait, even inside another call of the body.
            if timing == .willSet, observer.isReady {
                return observer.call(old: entry.old, new: entry.new, origin: origin)
            }
            observer.enqueue(old: entry.old, new: entry.new, origin: origin)
            observer.callOrHop()
        }
        observer.callOrHop()
        return PreferenceObservation {
            observer.cancel()
            observation.cancel()
        }
    }

    /// This preference, bound to the store that the current scope uses; a subscription keeps it, in whatever scope it is
    /// called later.
    var inUse: Preference<Value> {
        Preference(declaration.resolved)
    }

    /// Calls `body` with the changes that follow the state passed to `begin`; see `PreferenceStore.subscribe`.
    func subscribe(
        timing: PreferenceTiming = .didSet,
        begin: (StoredCandidates) -> Void = { _ in },
        _ body: @escaping @Sendable (ChangeEntry, PreferenceChangeOrigin) -> Void
    ) -> PreferenceObservation {
        let name = name
        return store.subscribe(
            to: [name],
            timing: timing,
            begin: { begin($0.candidates(for: name, formerly: $1[name])) }
        ) { batch in
            if let entry = batch.entry(for: name), isRelevant(entry) { body(entry, batch.origin) }
        }
    }

    /// Returns whether a change concerns this preference: a change below a stronger layer's value only if the preference can't read
    /// that value, and a change of a composite value only if the member differs.
    func isRelevant(_ entry: ChangeEntry) -> Bool {
        if declaration.member != nil {
            return !areEqual(value(of: entry.old, isReporting: false), value(of: entry.new, isReporting: false))
        }
        guard entry.isBelow else { return true }
        let canRead = { declaration.canRead($0) }
        return entry.old.first(where: canRead) != entry.new.first(where: canRead)
    }

    /// Returns the value that the candidates give, or the default.
    func value(of candidates: StoredCandidates, isReporting: Bool = true) -> Value {
        let (value, _, problems, parts) = declaration.read(candidates, isReporting: isReporting)
        if isReporting {
            store.report(unreadable: problems, name: name)
            store.report(parts, name: name)
        }
        return value ?? defaultValue
    }
}

/// An observer's closure, and the changes that wait for its actor.
private final class Observer<Value: Sendable>: Sendable {
    private struct Change: Sendable {
        let old: StoredCandidates
        let new: StoredCandidates
        let origin: PreferenceChangeOrigin
        /// The number of changes that led to this one.
        let depth = FeedbackDepth.current
    }

    private struct State {
        var waiting = FirstInFirstOut<Change>()
        /// Whether the body is being called; its caller then continues with the changes that arrive during the call.
        var isCalling = false
        var isHopping = false
        var isCancelled = false
    }

    let preference: Preference<Value>
    private let isolation: (any Actor)?
    private let body: @Sendable (PreferenceChange<Value>) -> Void
    private let state = Lock(State())

    init(
        of preference: Preference<Value>,
        _ body: @escaping @isolated(any) @Sendable (PreferenceChange<Value>) -> Void
    ) {
        self.preference = preference
        isolation = body.isolation
        // Without its isolation, so that it can be called without a task if that isolation is known to hold; the standard
        // library's `MainActor.assumeIsolated` removes isolation in the same way.
        self.body = unsafeBitCast(body, to: (@Sendable (PreferenceChange<Value>) -> Void).self)
    }

    /// Whether the body has no isolation and may be called on any thread.
    var hasNoIsolation: Bool { isolation == nil }

    /// Whether the body may be called on this thread: it has no isolation, or its isolation holds here.
    private var mayCallHere: Bool {
        isolation == nil || isolation is MainActor && ThreadIdentity.isOnMainActor
    }

    /// Whether the body may be called here and no change is waiting.
    var isReady: Bool { mayCallHere && state.withLock { !$0.isCancelled && $0.waiting.first == nil } }

    func enqueue(old: StoredCandidates, new: StoredCandidates, origin: PreferenceChangeOrigin) {
        let change = Change(old: old, new: new, origin: origin)
        state.withLock { if !$0.isCancelled { $0.waiting.append(change) } }
    }

    func cancel() {
        let left = state.withLock { state in
            state.isCancelled = true
            return exchange(&state.waiting, with: FirstInFirstOut())
        }
        withExtendedLifetime(left) {}
    }

    /// Calls the body with the waiting changes: here if its isolation holds here, else soon on its actor.
    func callOrHop() {
        if mayCallHere { return call() }
        hop()
    }

    private func hop() {
        guard let isolation else { return }
        let isNeeded = state.withLock { state in
            guard !state.isHopping, state.waiting.first != nil else { return false }
            state.isHopping = true
            return true
        }
        guard isNeeded else { return }
        Task.detached { [scope = PreferenceIsolation.current] in await self.call(on: isolation, in: scope) }
    }

    private func call(on actor: isolated any Actor, in scope: PreferenceIsolation) {
        state.withLock { $0.isHopping = false }
        scope.run { call() }
    }

    /// Calls the body with the changes that wait now. Later ones need another hop, so that they don't occupy the actor for ever.
    private func call() {
        var left = isolation == nil ? Int.max : state.withLock { $0.waiting.count }
        while left > 0, let change = next() {
            FeedbackDepth.reacting(toChangeAt: change.depth - 1) {
                call(old: change.old, new: change.new, origin: change.origin)
            }
            state.withLock { $0.isCalling = false }
            left -= 1
        }
        hop()
    }

    private func next() -> Change? {
        state.withLock { state in
            guard !state.isCalling, let next = state.waiting.popFirst() else { return nil }
            state.isCalling = true
            return next
        }
    }

    func call(old: StoredCandidates, new: StoredCandidates, origin: PreferenceChangeOrigin) {
        let newValue = preference.value(of: new)
        let oldValue = old == new ? newValue : preference.value(of: old, isReporting: false)
        body(
            PreferenceChange(
                name: preference.name,
                old: oldValue,
                new: newValue,
                origin: origin,
                isSecret: preference.declaration.isSecret
            )
        )
    }
}
