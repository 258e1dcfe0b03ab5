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
