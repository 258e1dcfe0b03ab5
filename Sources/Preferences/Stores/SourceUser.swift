/// A store, as the sources know it that it shows.
protocol SourceUser: AnyObject, Sendable {
    /// Counts up over the process: the locks of several stores are taken in this order.
    var id: UInt64 { get }
    var issues: IssueReporter { get }
    /// The names that were declared or observed, as a source has them.
    func names(in source: Source) -> Set<String>

    /// Whether the store shows a part of a source.
    var isScoped: Bool { get }
    /// Whether the store shows one of the names that change in a source.
    func shows(anyOf changes: ShortList<ValueChange>, of source: Source) -> Bool

    /// Runs `body` with the store's lock, after its readers were made to look again for what `body` changes in a source.
    func lock(
        preparing changes: ShortList<ValueChange>,
        of source: Source,
        _ publication: Publication,
        into publications: inout Publications,
        _ body: (inout Publications) -> Void
    )

    /// Delivers what waits; call without a lock, as what follows.
    func deliver()
    func report(_ error: PreferencesError)
    /// Notifies who wants to know before a set of a source, up to a subscription's number.
    func announce(_ changes: ValueChanges, in source: Source, upTo newest: UInt64) throws(PreferencesError)
}

/// How changes of a source came about.
struct Publication {
    let origin: PreferenceChangeOrigin
    /// The number of the last subscription that was notified before the change, where it is for that moment.
    var announcedUpTo: UInt64 = 0
    /// The store that was asked to make the change.
    var initiator: (any SourceUser)?
}

/// What is left to do once the locks of a publication are released.
struct Publications {
    private struct Entry {
        let core: any SourceUser
        let signals: PreferenceSignals
        let isObserved: Bool
    }

    private var entries = ShortList<Entry>()
    private var hidden: [(core: any SourceUser, error: PreferencesError)] = []

    mutating func append(_ batch: ChangeBatch, in core: any SourceUser) {
        entries.append(Entry(core: core, signals: batch.signals, isObserved: batch.isObserved))
    }

    mutating func noteHidden(_ errors: [PreferencesError], in core: any SourceUser) {
        hidden += errors.map { (core, $0) }
    }

    /// Tells Observation and the observers; call without any lock.
    func send() {
        entries.forEach { $0.signals.send() }
        entries.forEach { if $0.isObserved { $0.core.deliver() } }
        for (core, error) in hidden { core.report(error) }
    }
}
