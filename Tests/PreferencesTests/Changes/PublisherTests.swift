#if canImport(Combine) || OpenCombine
import Preferences
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

struct PublisherTests {
    private struct User: PreferenceGroup {
        @Preference("user.name") var name = "Pitt"
    }

    private let user = User(in: .inMemory())

    private func printing(_ timing: PreferenceTiming, into lines: Recorder<String>) -> AnyCancellable {
        user.$name.publisher(at: timing).sink { [user] in lines.record("Published: \($0) - Property: \(user.name)") }
    }

    @Test
    func didSetPublishesOnceTheValueIsReadable() {
        let lines = Recorder<String>()
        let cancellable = printing(.didSet, into: lines)
        user.name = "François"
        #expect(lines.elements == ["Published: Pitt - Property: Pitt", "Published: François - Property: François"])
        withExtendedLifetime(cancellable) {}
    }

    @Test
    func willSetPublishesBeforeTheValueIsReadable() {
        let lines = Recorder<String>()
        let cancellable = printing(.willSet, into: lines)
        user.name = "François"
        #expect(lines.elements == ["Published: Pitt - Property: Pitt", "Published: François - Property: Pitt"])
        withExtendedLifetime(cancellable) {}
    }

    @Test
    func instancesOfOneNameHaveEachItsOwnTiming() {
        let other = Preference("user.name", default: "Pitt", in: user.$name.store)
        let lines = Recorder<String>()
        let cancellables = [
            user.$name.publisher.dropFirst().sink { lines.record("did \($0)") },
            other.publisher(at: .willSet).dropFirst().sink { lines.record("will \($0)") },
        ]
        other.value = "François"
        user.$name.reset()
        #expect(lines.elements == ["will François", "did François", "will Pitt", "did Pitt"])
        withExtendedLifetime(cancellables) {}
    }

    @Test
    func nothingIsPublishedOnceCancelled() {
        let lines = Recorder<String>()
        let cancellable = user.$name.publisher.sink { lines.record($0) }
        cancellable.cancel()
        user.name = "François"
        #expect(lines.elements == ["Pitt"])
    }

    @Test
    func demandIsRespectedAndNothingIsLost() {
        let subscriber = HandSubscriber()
        user.$name.publisher.subscribe(subscriber)
        user.name = "a"
        user.name = "b"
        #expect(subscriber.values.isEmpty)
        subscriber.subscription?.request(.max(1))
        #expect(subscriber.values == ["Pitt"])
        subscriber.answer = .max(1)
        subscriber.subscription?.request(.max(1))
        #expect(subscriber.values == ["Pitt", "a", "b"])
        subscriber.answer = .none
        user.name = "c"
        user.name = "d"
        #expect(subscriber.values == ["Pitt", "a", "b", "c"], "one more was asked for with the last answer")
        subscriber.subscription?.cancel()
    }

    @Test
    func releasedSubscriptionLetsTheStoreGo() {
        weak var store: PreferenceStore?
        do {
            let user = User(in: .inMemory())
            store = user.$name.store
            let cancellable = user.$name.publisher(at: .willSet).sink { _ in }
            user.name = "a"
            withExtendedLifetime(cancellable) {}
        }
        #expect(store == nil)
    }
}

/// A subscriber that demands values only when the test makes it.
private final class HandSubscriber: Subscriber {
    var subscription: (any Subscription)?
    var values: [String] = []
    var answer = Subscribers.Demand.none

    func receive(subscription: any Subscription) { self.subscription = subscription }

    func receive(_ input: String) -> Subscribers.Demand {
        values.append(input)
        return answer
    }

    func receive(completion: Subscribers.Completion<Never>) {}
}
#endif
