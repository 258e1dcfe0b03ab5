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
