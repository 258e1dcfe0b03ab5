internal import DurableFile

/// An asynchronous sequence of values in order, which never fails.
///
/// Each iterator begins when it is created, is independent, and ends when its task is cancelled or it is released. `for
/// await` works on any actor and stays on it.
public struct PreferenceUpdates<Element: Sendable>: AsyncSequence, Sendable {
    /// The sequence never fails.
    public typealias Failure = Never

    /// Elements wait as closures, so that the consumer decodes them and not the thread that sets.
    fileprivate typealias Stream = AsyncStream<@Sendable () -> Element>
    /// Adds an element. It resumes a waiting consumer, so except for the first element it is called without a lock.
    package typealias Yield = @Sendable (@escaping @Sendable () -> Element) -> Void

    private let buffering: PreferenceBuffering
    private let subscribe: @Sendable (_ yield: @escaping Yield) -> [PreferenceObservation]

    /// Creates a sequence whose iterators call `subscribe`; elements that it yields before it returns come first.
    package init(
        buffering: PreferenceBuffering,
        subscribe: @escaping @Sendable (_ yield: @escaping Yield) -> [PreferenceObservation]
    ) {
        self.buffering = buffering
        self.subscribe = subscribe
    }

    /// Begins to observe.
    public func makeAsyncIterator() -> Iterator {
        let policy: Stream.Continuation.BufferingPolicy =
            switch buffering {
            case .unbounded: .unbounded
            case .newest(let count): .bufferingNewest(Swift.max(1, count))
            }
        let (stream, continuation) = Stream.makeStream(bufferingPolicy: policy)
        let observations = subscribe { continuation.yield($0) }
        return Iterator(elements: stream.makeAsyncIterator(), observations: observations)
    }

    /// An iterator of the values.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var elements: Stream.Iterator
        // Released with the iterator, which ends the subscription.
        fileprivate let observations: [PreferenceObservation]

        /// Returns the next value in the store's order, or `nil` if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await elements.next(isolation: actor)?()
        }

        /// Returns the next value in the store's order, or `nil` if the task is cancelled.
        public mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }
    }
}

/// The handling of values that a consumer hasn't read yet.
public enum PreferenceBuffering: Sendable, Hashable {
    /// All values wait; none is lost.
    case unbounded
    /// Only the newest values wait, at most this number and at least one; older ones are dropped.
    case newest(Int)
}

extension PreferenceStore {
    /// Returns the current values of several preferences, then all of them again after each change or transaction of any.
    ///
    ///     for await (theme, volume) in PreferenceStore.updates(of: preferences.$theme, preferences.$volume) { … }
    ///
    /// A transaction's changes to preferences of one store come together. The preferences may be of several stores; then each
    /// store's changes come in its own order.
    public static func updates<each Value: Sendable>(
        of preferences: repeat Preference<each Value>
    ) -> PreferenceUpdates<(repeat each Value)> {
        PreferenceUpdates(buffering: .unbounded) { yield in
            // The scope of isolated stores in which the iterator is created counts, not the one in which it is used.
            let preferences = (repeat (each preferences).inUse)
            let latest = LatestCandidates { candidates in
                yield { (repeat candidates.value(of: each preferences)) }
            }
            var namesByStore: [ObjectIdentifier: (store: PreferenceStore, names: Set<String>)] = [:]
            for preference in repeat each preferences {
                let store = preference.store
                namesByStore[ObjectIdentifier(store), default: (store, [])].names.insert(preference.name)
            }
            let observations = namesByStore.values.map { store, names in
                store.subscribe(
                    to: names,
                    begin: { latest.begin(names, of: store, $0, $1) },
                    decoding: { batch, decoded in
                        var isRelevant = false
                        for preference in repeat each preferences {
                            guard preference.store === store, let entry = batch.entry(for: preference.name) else {
                                continue
                            }
                            isRelevant = isRelevant || preference.change(of: entry, decoded) { _, _ in }
                        }
                        latest.apply(batch, of: store, isRelevant: isRelevant)
                    }
                )
            }
            latest.complete()
            return observations
        }
    }
}

/// The candidates for names of several stores as of the last change; passes each state on, in order.
private final class LatestCandidates: Sendable {
    struct Candidates: Sendable {
        fileprivate var byName: [ObjectIdentifier: [String: StoredCandidates]] = [:]

        func value<Value>(of preference: Preference<Value>) -> Value {
            let candidates = byName[ObjectIdentifier(preference.store)]?[preference.name]
            return preference.value(of: candidates ?? StoredCandidates())
        }
    }

    private struct State {
        var latest = Candidates()
        /// Whether all stores are subscribed to, so that states can be passed on.
        var isComplete = false
        var waiting = FirstInFirstOut<Candidates>()
        var isPassingOn = false
    }

    private let state = Lock(State())
    private let passOn: @Sendable (Candidates) -> Void
    /// The place among the participants of a `fork`; written once, in the initializer.
    nonisolated(unsafe) private var forkPlace = 0

    init(_ passOn: @escaping @Sendable (Candidates) -> Void) {
        self.passOn = passOn
        forkPlace = ForkGate.add(self)
    }

    deinit { ForkGate.remove(forkPlace) }

    /// Stores the values of one store at the time of its subscription; called under that store's lock.
    func begin(_ names: Set<String>, of store: PreferenceStore, _ layers: LayerList, _ formerNames: FormerNames) {
        let candidates = Dictionary(
            uniqueKeysWithValues: names.map { ($0, layers.candidates(for: $0, formerly: formerNames[$0])) }
        )
        state.withLock { $0.latest.byName[ObjectIdentifier(store)] = candidates }
    }

    /// Passes the first state on.
    func complete() {
        state.withLock { state in
            state.isComplete = true
            state.waiting.append(state.latest)
        }
        passOnWaiting()
    }

    /// Applies a change and passes the new state on if the change is relevant.
    func apply(_ batch: ChangeBatch, of store: PreferenceStore, isRelevant: Bool) {
        state.withLock { state in
            for entry in batch.entries + batch.entriesBelow {
                // A transaction may have changed other names, too.
                let key = ObjectIdentifier(store)
                if state.latest.byName[key]?[entry.name] != nil { state.latest.byName[key]?[entry.name] = entry.new }
            }
            if state.isComplete, isRelevant { state.waiting.append(state.latest) }
        }
        passOnWaiting()
    }

    /// Passes the waiting states on, unless another thread is doing so for another store; then that one continues with this state.
    private func passOnWaiting() {
        while let next = next() {
            passOn(next)
            state.withLock { $0.isPassingOn = false }
        }
    }

    private func next() -> Candidates? {
        state.withLock { state in
            guard !state.isPassingOn, let next = state.waiting.popFirst() else { return nil }
            state.isPassingOn = true
            return next
        }
    }
}

extension LatestCandidates: ForkParticipant {
    var forkRanks: [ForkRank] { [.leaves] }

    func take(_ rank: ForkRank) -> Bool { state.take() }

    func release(_ rank: ForkRank, inChild: Bool) -> WorkerQueue.Job? {
        state.release(inChild: inChild)
        return nil
    }

    func startInChild(isWhole: Bool) -> [WorkerQueue.Job] {
        // Another thread of the parent might have been passing a state on, unless the one that forks is in an observer.
        if FeedbackDepth.current == 0 { state.withLock { $0.isPassingOn = false } }
        return []
    }
}
