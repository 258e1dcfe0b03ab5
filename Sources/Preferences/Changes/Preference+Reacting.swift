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

    /// Calls `body` after each change, until the returned observation is cancelled or released.
    ///
    /// Called on the thread that made the change, before its set returns, in the store's order, without a lock held:
    /// the body may read, write, observe and cancel. A set made inside an observer of the store, or while another
    /// thread delivers, is delivered next by the thread that delivers. Outside changes come on a thread of the library.
    public func observe(_ body: @escaping @Sendable (PreferenceChange<Value>) -> Void) -> PreferenceObservation {
        let preference = inUse
        return preference.subscribe { entry, origin in
            let old = preference.value(of: entry.old, isReporting: false)
            let new = preference.value(of: entry.new)
            body(PreferenceChange(name: preference.name, old: old, new: new, origin: origin))
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
            if let entry = batch.entry(for: name), isNews(entry) { body(entry, batch.origin) }
        }
    }

    /// Whether a change is one for this preference: below a stronger layer's value, only if it can't read that one; of a
    /// member of a value, if that differs.
    func isNews(_ entry: ChangeEntry) -> Bool {
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
        if isReporting { declaration.report(problems) }
        return value ?? defaultValue
    }
}
