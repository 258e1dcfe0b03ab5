internal import DurableFile

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

    /// Makes every later read look at the sources; call without a lock, as what follows.
    func forgetValues()
    /// Delivers what waits.
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
    var initiator: ObjectIdentifier?
    /// What that store keeps for the one name that changes, if that is known.
    var node: PreferenceNode?
}

/// What is left to do once the locks of a publication are released.
struct Publications {
    // Made when there is something, as for most sets there is nothing.
    private var work: Work?

    private final class Work: @unchecked Sendable {  // not changed any more once it is sent
        var signals = PreferenceSignals()
        var deliverers: [any SourceUser] = []
        var hidden: [(core: any SourceUser, error: PreferencesError)] = []

        func send() {
            signals.send()
            for core in deliverers { core.deliver() }
            for (core, error) in hidden { core.report(error) }
        }
    }

    private mutating func add(_ body: (Work) -> Void) {
        let work = work ?? Work()
        body(work)
        self.work = work
    }

    mutating func addSignal(of node: PreferenceNode) {
        if node.signal.isEverRead { add { $0.signals.endEpoch(of: node.signal) } }
    }

    mutating func addDelivery(by core: any SourceUser) {
        add { $0.deliverers.append(core) }
    }

    mutating func addHidden(_ errors: [PreferencesError], in core: any SourceUser) {
        if !errors.isEmpty { add { $0.hidden += errors.map { (core, $0) } } }
    }

    /// Tells Observation and the observers; call without any lock.
    func send() { work?.send() }

    /// Does so on a thread of the library.
    func sendElsewhere() {
        if let work { WorkerThread().run { work.send() } }
    }
}
