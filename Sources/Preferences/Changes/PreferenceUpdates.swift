internal import DurableFile

/// Values in order, as an asynchronous sequence that never fails.
///
/// Each iterator begins when it is made, is on its own, and ends when its task is cancelled or it is released. `for
/// await` works from any actor and stays on it.
public struct PreferenceUpdates<Element: Sendable>: AsyncSequence, Sendable {
    /// Nothing is ever thrown.
    public typealias Failure = Never

    /// Elements wait as closures: they are decoded by the consumer, not by the thread that sets.
    fileprivate typealias Stream = AsyncStream<@Sendable () -> Element>
    /// Takes an element in; resumes a consumer that waits, so it is called without a lock but for the first element.
    typealias Yield = @Sendable (@escaping @Sendable () -> Element) -> Void

    private let buffering: PreferenceBuffering
    private let subscribe: @Sendable (_ yield: @escaping Yield) -> [PreferenceObservation]

    /// Makes a sequence whose iterators call `subscribe`; what it yields before it returns comes first.
    init(
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

    /// Gives the values one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var elements: Stream.Iterator
        /// Their end with the iterator is what ends the subscription.
        fileprivate let observations: [PreferenceObservation]

        /// The next value, in the order of the store; nil once the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await elements.next(isolation: actor)?()
        }

        /// The next value, in the order of the store; nil once the task is cancelled.
        public mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }
    }
}

/// What happens to values that a consumer has not taken yet.
public enum PreferenceBuffering: Sendable, Hashable {
    /// All wait; none is lost.
    case unbounded
    /// Only the newest so many wait, at least one; older ones are dropped.
    case newest(Int)
}

extension PreferenceUpdates {
    /// The current values of several preferences, then all of them again after each change or transaction of any.
    ///
    ///     for await (theme, volume) in PreferenceUpdates.of(preferences.$theme, preferences.$volume) { … }
    ///
    /// Preferences of one store are never seen half-way through a transaction. They may be of several stores; then each
    /// store's changes come in its own order.
    public static func of<each Value: Sendable>(
        _ preferences: repeat Preference<each Value>
    ) -> PreferenceUpdates<(repeat each Value)> where Element == (repeat each Value) {
        PreferenceUpdates(buffering: .unbounded) { yield in
            // Scopes of isolated stores count where the iterator is made, not where it is used.
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
                store.subscribe(to: names, begin: { latest.begin(names, of: store, with: $0) }) { batch in
                    var isChanged = false
                    for preference in repeat each preferences {
                        guard preference.store === store, let entry = batch.entry(for: preference.name) else {
                            continue
                        }
                        isChanged = isChanged || preference.isChanged(by: entry)
                    }
                    latest.take(batch, of: store, isChanged: isChanged)
                }
            }
            latest.complete()
            return observations
        }
    }
}

/// What answers for the names of several stores as of the last change; it passes each state on, in order.
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
        /// Whether every store is subscribed to, so that states may be passed on.
        var isComplete = false
        var waiting = FirstInFirstOut<Candidates>()
        var isPassingOn = false
    }

    private let state = Lock(State())
    private let passOn: @Sendable (Candidates) -> Void

    init(_ passOn: @escaping @Sendable (Candidates) -> Void) {
        self.passOn = passOn
    }

    /// Takes a store's values at the time of its subscription, under its lock.
    func begin(_ names: Set<String>, of store: PreferenceStore, with layers: LayerList) {
        let candidates = Dictionary(uniqueKeysWithValues: names.map { ($0, layers.candidates(for: $0)) })
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

    /// Takes a change.
    func take(_ batch: ChangeBatch, of store: PreferenceStore, isChanged: Bool) {
        state.withLock { state in
            for entry in batch.entries + batch.entriesBelow {
                // A transaction may have changed other names too.
                let key = ObjectIdentifier(store)
                if state.latest.byName[key]?[entry.name] != nil { state.latest.byName[key]?[entry.name] = entry.new }
            }
            if state.isComplete, isChanged { state.waiting.append(state.latest) }
        }
        passOnWaiting()
    }

    /// A thread that finds another passing on, for another store, leaves its state to that one.
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
