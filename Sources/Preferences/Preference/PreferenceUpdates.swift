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
            var nodes: [ObjectIdentifier: (store: PreferenceStore, nodes: [Node])] = [:]
            for preference in repeat each preferences {
                let store = preference.store
                nodes[ObjectIdentifier(store), default: (store, [])].nodes.append(preference.declaration.node)
            }
            let observations = nodes.values.map { store, nodes in
                let end = store.core.subscribe(to: nodes, at: .didSet, begin: { latest.begin(nodes) }) { batch in
                    var isRelevant = false
                    for preference in repeat each preferences {
                        guard let entry = batch.entry(for: preference.declaration.node) else { continue }
                        preference.change(of: entry) { _, _ in isRelevant = true }
                    }
                    latest.apply(batch, isRelevant: isRelevant)
                }
                return PreferenceObservation(of: store, end)
            }
            latest.complete()
            return observations
        }
    }
}

/// The candidates for names of several stores as of the last change; passes each state on, in order.
private final class LatestCandidates: Sendable {
    struct Candidates: Sendable {
        fileprivate var byNode: [ObjectIdentifier: [Candidate]] = [:]

        func value<Value>(of preference: Preference<Value>) -> Value {
            preference.value(of: byNode[ObjectIdentifier(preference.declaration.node)] ?? [])
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

    init(_ passOn: @escaping @Sendable (Candidates) -> Void) { self.passOn = passOn }

    /// Notes the values of one store at the time of its subscription; called under the publish lock.
    func begin(_ nodes: [Node]) {
        state.withLock { state in
            for node in nodes { state.latest.byNode[ObjectIdentifier(node)] = node.candidates() }
        }
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
    func apply(_ batch: ChangeBatch, isRelevant: Bool) {
        state.withLock { state in
            for entry in batch.entries {
                // A transaction may have changed other names, too.
                guard let node = entry.node, state.latest.byNode[ObjectIdentifier(node)] != nil else { continue }
                state.latest.byNode[ObjectIdentifier(node)] = entry.new
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
