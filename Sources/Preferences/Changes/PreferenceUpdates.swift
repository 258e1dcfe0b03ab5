internal import DurableFile

/// Values in order, as an asynchronous sequence that never fails.
///
/// Each iterator begins when it is made, is on its own, and ends when its task is cancelled or it is released. `for
/// await` works from any actor and stays on it.
public struct PreferenceUpdates<Element: Sendable>: AsyncSequence, Sendable {
    /// Nothing is ever thrown.
    public typealias Failure = Never

    private let buffering: PreferenceBuffering
    private let subscribe: @Sendable (_ yield: @escaping Yield) -> [PreferenceObservation]

    /// Takes an element in, with a storage that may be gone; what it returns is to be called without a lock.
    typealias Yield = @Sendable (@escaping UpdatesStorage<Element>.Thunk) -> UpdatesStorage<Element>.Resumption?

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
        let storage = UpdatesStorage<Element>(buffering)
        // Weakly: the release of the iterator, and so of the storage, is what ends the subscription.
        let observations = subscribe { [weak storage] in storage?.yield($0) }
        return Iterator(storage: storage, observations: observations)
    }

    /// Gives the values one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let storage: UpdatesStorage<Element>
        fileprivate let observations: [PreferenceObservation]

        /// The next value, in the order of the store; nil once the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await storage.next(isolation: actor)
        }

        /// The next value, in the order of the store; nil once the task is cancelled.
        public mutating func next() async -> Element? {
            await storage.next(isolation: #isolation)
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
            var namesByStore: [ObjectIdentifier: (store: PreferenceStore, names: Set<String>)] = [:]
            for preference in repeat each preferences {
                let store = preference.store
                namesByStore[ObjectIdentifier(store), default: (store, [])].names.insert(preference.name)
            }
            let latest = Lock(LatestCandidates())
            let values: @Sendable (LatestCandidates) -> (repeat each Value) = { latest in
                (repeat latest.value(of: each preferences))
            }
            let observations = namesByStore.map { identifier, observed in
                observed.store.subscribe(
                    to: observed.names,
                    begin: { contents in latest.withLock { $0.begin(observed.names, of: identifier, with: contents) } }
                ) { batch in
                    var isNews = false
                    for preference in repeat each preferences {
                        guard preference.store === observed.store, let entry = batch.entry(for: preference.name)
                        else { continue }
                        isNews = isNews || preference.isNews(entry)
                    }
                    latest.withLock { [isNews] latest -> UpdatesStorage<Element>.Resumption? in
                        guard latest.take(batch, of: identifier), isNews else { return nil }
                        let latest = latest
                        return yield { values(latest) }
                    }?()
                }
            }
            latest.withLock { latest -> UpdatesStorage<Element>.Resumption? in
                latest.isComplete = true
                let latest = latest
                return yield { values(latest) }
            }?()
            return observations
        }
    }
}

/// What answers for the names of several stores as of the last change.
private struct LatestCandidates: Sendable {
    private struct Key: Hashable {
        let store: ObjectIdentifier
        let name: String
    }

    /// Whether every store is subscribed to, so that elements may be yielded.
    var isComplete = false
    private var candidates: [Key: StoredCandidates] = [:]

    /// Takes a store's contents at the time of its subscription.
    mutating func begin(_ names: Set<String>, of store: ObjectIdentifier, with contents: LayerList) {
        for name in names { candidates[Key(store: store, name: name)] = contents.candidates(for: name) }
    }

    /// Takes a change; whether it is to be yielded.
    mutating func take(_ batch: ChangeBatch, of store: ObjectIdentifier) -> Bool {
        for entry in batch.entries + batch.entriesBelow {
            // A transaction may have changed other names too.
            guard let index = candidates.index(forKey: Key(store: store, name: entry.name)) else { continue }
            candidates.values[index] = entry.new
        }
        return isComplete
    }

    func value<Value>(of preference: Preference<Value>) -> Value {
        let candidates =
            candidates[Key(store: ObjectIdentifier(preference.store), name: preference.name)] ?? StoredCandidates()
        return preference.value(of: candidates)
    }
}

/// What an iterator of `PreferenceUpdates` and its subscription share.
///
/// Elements wait as closures: they are decoded by the consumer, not by the thread that sets.
final class UpdatesStorage<Element: Sendable>: Sendable {
    typealias Thunk = @Sendable () -> Element
    private typealias Machine = UpdatesStateMachine<Thunk, UnsafeContinuation<Thunk?, Never>>

    private let machine: Lock<Machine>

    init(_ buffering: PreferenceBuffering) {
        machine = Lock(Machine(buffering))
    }

    /// Adds an element; may be called under a lock, but what it returns only after its release.
    func yield(_ element: @escaping Thunk) -> Resumption {
        Resumption(continuation: machine.withLock { $0.yield(element) }, element: element)
    }

    /// A consumer that may have to be resumed.
    struct Resumption: Sendable {
        fileprivate let continuation: UnsafeContinuation<Thunk?, Never>?
        fileprivate let element: Thunk

        func callAsFunction() {
            continuation?.resume(returning: element)
        }
    }

    func next(isolation actor: isolated (any Actor)?) async -> Element? {
        let element = await withTaskCancellationHandler(
            operation: {
                await withUnsafeContinuation(isolation: actor) { continuation in
                    switch machine.withLock({ $0.next(continuation) }) {
                    case .element(let element): continuation.resume(returning: element)
                    case .finished: continuation.resume(returning: nil)
                    case .wait: break
                    }
                }
            },
            onCancel: {
                machine.withLock { $0.finish() }?.resume(returning: nil)
            },
            isolation: actor
        )
        return element?()
    }
}

/// What an iterator of `PreferenceUpdates` does with values and waiting consumers; pure, so that its order can be
/// tested by itself.
struct UpdatesStateMachine<Element, Continuation> {
    private var buffer = FirstInFirstOut<Element>()
    private var waiting: Continuation?
    private var isFinished = false
    private let limit: Int

    init(_ buffering: PreferenceBuffering) {
        switch buffering {
        case .unbounded: limit = .max
        case .newest(let count): limit = max(1, count)
        }
    }

    /// A value came: the continuation to resume with it, unless it has to wait.
    mutating func yield(_ element: Element) -> Continuation? {
        guard !isFinished else { return nil }
        if let continuation = waiting {
            waiting = nil
            return continuation
        }
        if buffer.count >= limit { _ = buffer.popFirst() }
        buffer.append(element)
        return nil
    }

    /// What a consumer that asks is told.
    enum Answer {
        case element(Element)
        case finished
        case wait
    }

    /// A consumer asks; where it has to wait, `continuation` is kept.
    mutating func next(_ continuation: Continuation) -> Answer {
        if isFinished { return .finished }
        if let element = buffer.popFirst() { return .element(element) }
        // Iterators are not Sendable, so only one consumer can wait.
        precondition(waiting == nil, "one iterator was used by two tasks at once")
        waiting = continuation
        return .wait
    }

    /// The consumer's task was cancelled: the continuation to resume with nil, if one waits.
    mutating func finish() -> Continuation? {
        isFinished = true
        buffer.removeAll()
        defer { waiting = nil }
        return waiting
    }
}
