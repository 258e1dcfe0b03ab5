internal import DurableFile

extension Preference {
    /// The current value, then each change, in order.
    ///
    /// Begins when an iterator is made. A slow consumer loses nothing.
    public var updates: PreferenceUpdates<Value> { updates() }

    /// Each change in order, after the current value unless that is not wanted.
    public func updates(
        includingCurrent: Bool = true,
        buffering: PreferenceBuffering = .unbounded
    ) -> PreferenceUpdates<Value> {
        PreferenceUpdates(buffering: buffering) { yield in
            let preference = inUse
            return [
                preference.subscribe(
                    begin: { candidates in
                        // Nobody waits for the first element yet, so there is nobody to resume.
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
    /// - Without isolation it is called on the thread that made the change, before its set returns. A set made inside an
    ///   observer of the store, or while another thread delivers, is delivered next by the thread that delivers. External
    ///   changes come on a thread of the library.
    /// - On the main actor, a change that is made there calls it before the set returns, unless another thread delivers
    ///   then. Every other change comes there soon. A main actor that is blocked calls nothing. The main actor isn't
    ///   always the main thread: on Linux that of an asynchronous program runs on others.
    /// - On another actor, it is called there soon. Such a body holds its actor: an actor that keeps the observation ends
    ///   only after `cancel()`.
    ///
    /// In each case it is called in the store's order, without a lock held: the body may read, write, observe and cancel.
    /// After `cancel()` nothing that still waits is called.
    ///
    /// - Parameters:
    ///   - timing: `.willSet` calls it on the setting thread while `value` is still the old one; a set that then fails was
    ///     announced too. An external change is announced when it is readable already. A body with isolation is called
    ///     before a set that is made on the main actor, if that is its own; it has to wait for every other, and may then
    ///     find the new value or a later one.
    ///   - includingCurrent: Whether it is first called with the current value as `old` and `new`.
    ///   - body: What is called.
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
            // Before its set, a change of this thread can't wait, even inside a call for another.
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

    /// This preference in the store that is in use just now: what a subscription goes on with, in whatever scope it is
    /// called.
    var inUse: Preference<Value> {
        Preference(declaration.resolved)
    }

    /// Tells `body` of the changes after what `begin` is given; see `PreferenceStore.subscribe`.
    func subscribe(
        timing: PreferenceTiming = .didSet,
        begin: (StoredCandidates) -> Void = { _ in },
        _ body: @escaping @Sendable (ChangeEntry, PreferenceChangeOrigin) -> Void
    ) -> PreferenceObservation {
        let name = name
        return store.subscribe(to: [name], timing: timing, begin: { begin($0.candidates(for: name)) }) { batch in
            if let entry = batch.entry(for: name), isChanged(by: entry) { body(entry, batch.origin) }
        }
    }

    /// Whether a change is one for this preference: below a stronger layer's value, only if it can't read that one; of a
    /// member of a value, if that differs.
    func isChanged(by entry: ChangeEntry) -> Bool {
        if declaration.member != nil {
            return !areEqual(value(of: entry.old, isReporting: false), value(of: entry.new, isReporting: false))
        }
        guard entry.isBelow else { return true }
        let canRead = { declaration.canRead($0) }
        return entry.old.first(where: canRead) != entry.new.first(where: canRead)
    }

    /// The value that stored values give, or the default.
    func value(of candidates: StoredCandidates, isReporting: Bool = true) -> Value {
        let (value, problems) = declaration.read(candidates)
        if isReporting { store.report(unreadable: problems, name: name) }
        return value ?? defaultValue
    }
}

/// A closure that is notified of a preference's changes, and the changes that wait for its actor.
private final class Observer<Value: Sendable>: Sendable {
    private struct Change: Sendable {
        let old: StoredCandidates
        let new: StoredCandidates
        let origin: PreferenceChangeOrigin
        /// How many changes led to this one.
        let depth = AnswerDepth.current
    }

    private struct State {
        var waiting = FirstInFirstOut<Change>()
        /// Whether the body is being called; its caller then goes on with the changes that arrive during the call.
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
        // Without its isolation, to be called where that is known to hold, and without a task; the standard library's
        // `MainActor.assumeIsolated` takes isolation off in the same way.
        self.body = unsafeBitCast(body, to: (@Sendable (PreferenceChange<Value>) -> Void).self)
    }

    /// Whether the body may be called anywhere, so that no change need wait.
    var hasNoIsolation: Bool { isolation == nil }

    /// Whether the body's isolation holds here, so that it may be called.
    private var mayCallHere: Bool {
        isolation == nil || isolation is MainActor && ThreadIdentity.isOnMainActor
    }

    /// Whether the body may be called here, and nothing waits.
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

    /// Calls the body with what waits, here if its isolation holds here, else soon on its actor.
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

    /// Calls the body with the changes that wait now. Later ones come with a hop, so that they don't occupy the actor for ever.
    private func call() {
        var left = isolation == nil ? Int.max : state.withLock { $0.waiting.count }
        while left > 0, let change = next() {
            AnswerDepth.answering(change.depth - 1) { call(old: change.old, new: change.new, origin: change.origin) }
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
