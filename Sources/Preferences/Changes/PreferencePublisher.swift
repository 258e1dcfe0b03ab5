#if canImport(Combine) || OpenCombine
internal import DurableFile
#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

/// Publishes a preference's current value, and then each change of it.
///
/// Values come in the store's order, on the thread that makes the change, without a lock held. A subscriber that asks
/// for fewer values gets them later; none is lost.
public struct PreferencePublisher<Value: Sendable>: Publisher, Sendable {
    /// The preference's values.
    public typealias Output = Value
    /// Nothing ever fails.
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
    /// A publisher of the current value and then of each change: after it is readable, or just before.
    ///
    /// With `.willSet` the change is published on the setting thread while `value` is still the old one, and a set that
    /// is then refused was published too; an outside change is published when it is readable already.
    public func publisher(_ timing: PreferenceTiming = .didSet) -> PreferencePublisher<Value> {
        PreferencePublisher(preference: self, timing: timing)
    }
}
#endif
