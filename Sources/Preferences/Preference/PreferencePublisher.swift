#if canImport(Combine) || OpenCombine
#if canImport(Combine)
public import Combine
// The module has a class of this name.
private typealias CombineSubscription = Combine.Subscription
#else
public import OpenCombine
private typealias CombineSubscription = OpenCombine.Subscription
#endif

/// A publisher of a preference's current value and then of each change.
///
/// Values come in the store's order, on the thread that makes the change, without a lock held. A subscriber with less
/// demand gets them later; none is lost.
public struct PreferencePublisher<Value: Sendable>: Publisher, Sendable {
    /// The preference's values.
    public typealias Output = Value
    /// The publisher never fails.
    public typealias Failure = Never

    let preference: Preference<Value>
    let timing: PreferenceTiming

    /// Attaches a subscriber.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Value, Downstream.Failure == Never {
        let subscription = PreferenceSubscription(of: preference.inUse, timing: timing, downstream: subscriber)
        subscriber.receive(subscription: subscription)
        subscription.begin()
    }
}

extension Preference {
    /// A publisher of the current value and then of each change, when the new value can be read.
    public var publisher: PreferencePublisher<Value> { publisher(at: .didSet) }

    /// Returns a publisher of the current value and then of each change: after the new value can be read, or just before.
    ///
    /// With `.willSet`, a change is published on the writing thread while `value` is still the old one, and a write that then
    /// fails was published as well. An external change is published when its value can already be read.
    public func publisher(at timing: PreferenceTiming) -> PreferencePublisher<Value> {
        PreferencePublisher(preference: self, timing: timing)
    }
}

/// The subscription to a `PreferencePublisher`; it keeps values until the subscriber demands them.
// `receive` runs singly.
private final class PreferenceSubscription<Value: Sendable>: CombineSubscription, @unchecked Sendable {
    /// A value that waits for demand, decoded when it is sent if it is the first one.
    private struct Pending {
        let value: @Sendable () -> Value
    }

    private struct State {
        var pending = FirstInFirstOut<Pending>()
        var demand = Subscribers.Demand.none
        var isSending = false
        var isCancelled = false
        var observation: PreferenceObservation?
    }

    private let preference: Preference<Value>
    private let timing: PreferenceTiming
    private let receive: (Value) -> Subscribers.Demand
    private let state = Lock(State())

    init<Downstream: Subscriber>(of preference: Preference<Value>, timing: PreferenceTiming, downstream: Downstream)
    where Downstream.Input == Value, Downstream.Failure == Never {
        self.preference = preference
        self.timing = timing
        receive = { downstream.receive($0) }
    }

    /// Begins to observe; the current value is sent first.
    func begin() {
        let observation = preference.subscribe(
            timing: timing,
            begin: { candidates in enqueue { [preference] in preference.value(of: candidates) } }
        ) { [weak self] _, new, _ in
            self?.enqueue { new }
            self?.send()
        }
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.observation = observation }
            return state.isCancelled
        }
        if isCancelled { observation.cancel() }
        send()
    }

    func request(_ demand: Subscribers.Demand) {
        state.withLock { $0.demand += demand }
        send()
    }

    func cancel() {
        let (observation, pending) = state.withLock { state in
            state.isCancelled = true
            return (exchange(&state.observation, with: nil), exchange(&state.pending, with: FirstInFirstOut()))
        }
        observation?.cancel()
        withExtendedLifetime(pending) {}
    }

    private func enqueue(_ value: @escaping @Sendable () -> Value) {
        state.withLock { state in
            if !state.isCancelled { state.pending.append(Pending(value: value)) }
        }
    }

    /// Sends values on demand, one at a time; if another thread is sending, it sends this one's value, too.
    private func send() {
        while let next = next() {
            let more = receive(next.value())
            state.withLock { state in
                state.demand += more
                state.isSending = false
            }
        }
    }

    private func next() -> Pending? {
        state.withLock { state in
            guard !state.isSending, !state.isCancelled, state.demand > .none, let next = state.pending.popFirst()
            else { return nil }
            state.isSending = true
            state.demand -= 1
            return next
        }
    }
}

extension PreferenceSubscription: CustomReflectable {
    /// A mirror without children, which would have the values of secrets.
    var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
