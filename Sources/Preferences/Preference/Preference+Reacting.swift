internal import CPreferences

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
                ) { _, new, _ in
                    yield { new }
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
    /// - Without isolation, the body is called on the thread that made the change, before its write returns. A write that is made inside
    ///   an observer of the store, or while another thread delivers, is delivered next by the thread that delivers. External
    ///   changes are delivered on a thread of the library.
    /// - On the main actor, a change that is made there calls the body before the write returns, unless another thread delivers
    ///   at that time. For every other change, the body is called there soon after. If the main actor is blocked, it isn't called.
    ///   The main actor isn't always the main thread: on Linux, an asynchronous program's main actor runs on other threads.
    /// - On another actor, the body is called there soon after the change. Such a body holds its actor: an actor that keeps the
    ///   observation is released only after `cancel()`.
    ///
    /// The body is always called in the store's order and without a lock held: it may read, write, observe and cancel.
    /// After `cancel()` it isn't called for changes that are still waiting.
    ///
    /// - Parameters:
    ///   - timing: With `.willSet`, the body is called on the writing thread while `value` is still the old one; a write that then
    ///     fails was announced as well. An external change is announced when its value can already be read. A body isolated to the
    ///     main actor is called before a write that is made there; for other writes, and on other actors, it has to wait for its actor,
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
            return observer.preference.subscribe(timing: timing) { observer.call($0, $1, $2) }
        }
        let observation = observer.preference.subscribe(
            timing: timing,
            begin: { if includingCurrent { observer.enqueue(.current($0), .local) } }
        ) { old, new, origin in
            // A `willSet` call on this thread can't wait, even inside another call of the body.
            if timing == .willSet, observer.isReady { return observer.call(old, new, origin) }
            observer.enqueue(.change(old: old, new: new), origin)
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

    /// Calls `body` with the changes that follow the state passed to `begin`, which must not call out.
    func subscribe(
        timing: PreferenceTiming = .didSet,
        begin: ([Candidate]) -> Void = { _ in },
        _ body: @escaping @Sendable (_ old: Value, _ new: Value, PreferenceChangeOrigin) -> Void
    ) -> PreferenceObservation {
        let node = declaration.node
        let end = store.core.subscribe(to: [node], at: timing, begin: { begin(node.candidates()) }) { batch in
            guard let entry = batch.entry(for: node) else { return }
            change(of: entry, batch.decoded) { body($0, $1, batch.origin) }
        }
        return PreferenceObservation(of: store, end)
    }

    /// Passes on the values that the preference shows before and after a change of the stored ones, if they differ.
    ///
    /// Observers, sequences and publishers are notified of what this passes on, and of nothing else. Equal stored forms are no change, nor is a
    /// value that can't be used and gives way to another one. Otherwise `==` decides, or the form in which the values are stored if
    /// their type isn't `Equatable`.
    ///
    /// - Parameter decoded: The changes that observers of the batch have decoded, if there are several.
    // Passed to a closure, as the type of a generic result would be looked up at each call.
    func change(of entry: ChangeEntry, _ decoded: DecodedChanges? = nil, _ body: (_ old: Value, _ new: Value) -> Void) {
        if let known = decoded?.change(for: ObjectIdentifier(declaration.slot)) {
            let change = unsafeDowncast(known, to: DecodedChange<Value>.self)
            if change.isChange { pass(change.old, change.new, to: body) }
            return
        }
        var old: Value?
        var new: Value?
        let isChange = decode(entry, &old, &new)
        decoded?.append(DecodedChange(isChange, old, new, of: ObjectIdentifier(declaration.slot)))
        if isChange { pass(old, new, to: body) }
    }

    /// Decodes the values before and after a change, nil where the default is shown; returns false if the same is read before and after.
    // Inlined, as each function looks up the type of the optional values, which takes 330 instructions.
    @inline(__always)
    private func decode(_ entry: ChangeEntry, _ old: inout Value?, _ new: inout Value?) -> Bool {
        var (before, after) = (ReadOutcome(), ReadOutcome())
        new = declaration.read(entry.new, &after)
        declaration.report(after)
        // Most often the stronger layer's value stays.
        if after.index == 0, let first = entry.old.first, haveSameForm(first, entry.new[0]) { return false }
        old = declaration.read(entry.old, &before, isReporting: false)
        switch (before.used(in: entry.old), after.used(in: entry.new)) {
        case (nil, nil): return false
        case (let before?, let after?): if haveSameForm(before, after) { return false }
        default: return true
        }
        if let old, let new { return !declaration.areSame(old, new) }
        return true
    }

    /// Passes on values that differ, unless one of them is the default and equals the other.
    @inline(__always)
    private func pass(_ old: Value?, _ new: Value?, to body: (_ old: Value, _ new: Value) -> Void) {
        if let old, let new { return body(old, new) }
        let before = old ?? defaultValue
        let after = new ?? defaultValue
        if !declaration.areSame(before, after) { body(before, after) }
    }

    /// Returns whether two candidates are read as the same value.
    private func haveSameForm(_ left: Candidate, _ right: Candidate) -> Bool {
        left.value == right.value && declaration.isText(left) == declaration.isText(right)
    }

    /// Returns the value that the candidates give, or the default.
    func value(of candidates: [Candidate]) -> Value {
        var outcome = ReadOutcome()
        let value = declaration.read(candidates, &outcome)
        declaration.report(outcome)
        return value ?? defaultValue
    }
}

/// The values of a preference before and after a change; nil where its default is shown.
private final class DecodedChange<Value: Sendable>: AnyDecodedChange, @unchecked Sendable {  // as its superclass
    /// Whether something else is read after it.
    let isChange: Bool
    let old: Value?
    let new: Value?

    init(_ isChange: Bool, _ old: Value?, _ new: Value?, of cell: ObjectIdentifier) {
        (self.isChange, self.old, self.new) = (isChange, old, new)
        super.init(cell: cell)
    }
}

extension PreferenceDeclaration {
    /// Returns whether two values are equal or, if their type isn't `Equatable`, are stored in the same form.
    fileprivate func areSame(_ left: Value, _ right: Value) -> Bool {
        if !Self.isEqualByForm || member != nil || coding.identifier != "native" {
            if let areEqual = areEqual(left, right) { return areEqual }
            if member != nil {
                let forms = (coding.form.part(of: left), coding.form.part(of: right))
                return forms.0 == forms.1 && (forms.0 != nil || Self.isNil(left) && Self.isNil(right))
            }
        }
        do { return try encodeUnchecked(left) == encodeUnchecked(right) } catch { return false }
    }

    private static func isNil(_ value: Value) -> Bool { (value as? any _OptionalPreferenceValue)?.isNil ?? false }

    /// Whether values are known to be equal exactly if their native forms are. The cast that finds `==` takes thousands of
    /// instructions.
    fileprivate static var isEqualByForm: Bool {
        Value.self == Int.self || Value.self == Bool.self || Value.self == String.self || Value.self == Int?.self
            || Value.self == String?.self
    }
}

/// An observer's closure, and the changes that wait for its actor.
private final class Observer<Value: Sendable>: Sendable {
    /// The values of a call of the body.
    enum Content: Sendable {
        case change(old: Value, new: Value)
        /// The value at the time when the observation began, decoded when the body is called.
        case current([Candidate])
    }

    private struct StoredChange: Sendable {
        let content: Content
        let origin: PreferenceChangeOrigin
        /// The number of changes that led to this one.
        let depth = preferences_state().pointee.depth
    }

    private struct State {
        var waiting = FirstInFirstOut<StoredChange>()
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

    func enqueue(_ content: Content, _ origin: PreferenceChangeOrigin) {
        let change = StoredChange(content: content, origin: origin)
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
            let thread = preferences_state()
            let before = thread.pointee.depth
            thread.pointee.depth = change.depth
            switch change.content {
            case .change(let old, let new): call(old, new, change.origin)
            case .current(let candidates):
                let value = preference.value(of: candidates)
                call(value, value, change.origin)
            }
            thread.pointee.depth = before
            state.withLock { $0.isCalling = false }
            left -= 1
        }
        hop()
    }

    private func next() -> StoredChange? {
        state.withLock { state in
            guard !state.isCalling, let next = state.waiting.popFirst() else { return nil }
            state.isCalling = true
            return next
        }
    }

    func call(_ old: Value, _ new: Value, _ origin: PreferenceChangeOrigin) {
        body(
            PreferenceChange(
                name: preference.name,
                old: old,
                new: new,
                origin: origin,
                isSecret: preference.declaration.isSecret
            )
        )
    }
}
