import FileTestSupport
import Foundation
import PreferencesTesting
import Testing

@testable import Preferences

/// Random interleavings of all that a store does, from many threads, judged by what each observer saw.
struct InterleavingTests {
    private static let names = ["a", "b", "c"]
    private static let threads = 8

    @Test(arguments: [(Kind.memory, 64_000), (.outside, 24_000), (.file, 8_000), (.layered, 8_000)])
    private func everyObserverSeesTheStoresOrder(kind: Kind, count: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("seed of the interleavings over the \(kind) store: \(seed)")
        let folder = try TemporaryFolder()
        let (store, changeOutside) = try kind.store(in: folder)
        store.issueHandler = { Issue.record($0) }
        // An object that holds the store longer misses the folder; that isn't an issue of the test.
        defer { withExtendedLifetime(folder) { store.issueHandler = { _ in } } }
        let master = Recorder<ChangeBatch>()
        let masterObservation = store.subscribe { master.record($0) }
        let observers = Recorder<Observer>()
        let serial = Counter()
        await onThreads(Self.threads) { thread in
            var random = SeededGenerator(seed: seed &+ UInt64(thread))
            var own: [Observer] = []
            for _ in 0..<rounds(count) / Self.threads {
                let name = Self.names[Int.random(in: 0..<Self.names.count, using: &random)]
                let preference = Preference(name, default: 0, in: store)
                switch Int.random(in: 0..<16, using: &random) {
                case 0..<6: preference.value = serial.next()
                case 6: preference.reset()
                case 7..<10:
                    let value = serial.next()
                    do { try store.transaction { for name in Self.names { $0[name] = .integer(Int64(value)) } } } catch
                    { Issue.record(error) }
                case 10..<12:
                    guard own.count < 2 else { continue }
                    let observer = Observer(of: name, in: store)
                    own.append(observer)
                    observers.record(observer)
                case 12..<14:
                    guard !own.isEmpty else { continue }
                    own.remove(at: Int.random(in: own.indices, using: &random)).cancel()
                case 14: changeOutside(name, serial.next())
                default: _ = preference.value
                }
            }
        }
        // Merges the last external changes, and waits until all changes are delivered.
        for name in Self.names { Preference(name, default: 0, in: store).value = serial.next() }
        await waitUntil { master.elements.last?.sequence == store.core.state.withLock { $0.sequence } }

        let batches = master.elements
        #expect(zip(batches, batches.dropFirst()).allSatisfy { $0.sequence + 1 == $1.sequence }, "seed \(seed)")
        for name in Self.names {
            let history = batches.compactMap { $0.entry(for: name) }.map { Step($0) }
            #expect(zip(history, history.dropFirst()).allSatisfy { $0.new == $1.old }, "chained; seed \(seed)")
            #expect(history.first?.old == nil && history.last?.new == store[name], "seed \(seed)")
            // No value is set twice, so no step comes twice.
            let places = Dictionary(uniqueKeysWithValues: zip(history, history.indices))
            for observer in observers.elements where observer.name == name {
                observer.check(against: history, places, "seed \(seed)")
            }
        }
        #expect(observers.elements.count > rounds(100))
        for observer in observers.elements { observer.cancel() }
        withExtendedLifetime(masterObservation) {}
    }

    private enum Kind: Sendable {
        case memory, outside, file, layered

        func store(in folder: TemporaryFolder) throws -> (PreferenceStore, @Sendable (String, Int) -> Void) {
            switch self {
            case .memory:
                return (.inMemory(), { _, _ in })
            case .outside:
                let backend = FaultInjectingBackend()
                return (PreferenceStore(backend: backend), { backend.changeOutside([$0: .integer(Int64($1))]) })
            case .file, .layered:
                let store = try PreferenceStore.file(at: URL(filePath: folder.path("preferences.jsonl")))
                let append: @Sendable (String, Int) -> Void = { name, value in
                    do { try folder.append("{\"\(name)\":\(value)}\n", to: "preferences.jsonl") } catch {
                        Issue.record(error)
                    }
                }
                return (self == .file ? store : .layered([store, .inMemory(["z": 1])]), append)
            }
        }
    }
}

/// One change of one name.
private struct Step: Hashable {
    let old: PropertyListValue?
    let new: PropertyListValue?

    init(_ entry: ChangeEntry) {
        old = entry.old.first?.value
        new = entry.new.first?.value
    }

    init(_ old: Int?, _ new: Int?) {
        self.old = old.map { .integer(Int64($0)) }
        self.new = new.map { .integer(Int64($0)) }
    }
}

/// The changes that one observer of a preference received, and the time of its cancellation.
private final class Observer: Sendable {
    private struct State {
        var observation: PreferenceObservation?
        var seen: [Step] = []
        var cancelledBy: ThreadIdentity?
        var lateCount = 0
        var ownLateCount = 0
    }

    let name: String
    private let state = Lock(State())

    /// Observes a name as an optional, which has a value exactly if one is stored.
    init(of name: String, in store: PreferenceStore) {
        self.name = name
        let preference = Preference<Int?>(name, in: store)
        let observation = preference.subscribe { [weak self] old, new, _ in self?.receive(Step(old, new)) }
        state.withLock { $0.observation = observation }
    }

    private func receive(_ step: Step) {
        let thread = ThreadIdentity.current
        state.withLock { state in
            if let canceller = state.cancelledBy {
                state.lateCount += 1
                if canceller == thread { state.ownLateCount += 1 }
            }
            state.seen.append(step)
        }
    }

    func cancel() {
        state.withLock({ $0.observation })?.cancel()
        state.withLock { state in
            if state.cancelledBy == nil { state.cancelledBy = .current }
            state.observation = nil
        }
    }

    /// Its changes are those of the store from some one on, without a gap, up to the last unless it was cancelled.
    func check(against history: [Step], _ places: [Step: Int], _ comment: Comment) {
        let (seen, isCancelled, late, ownLate) = state.withLock {
            ($0.seen, $0.cancelledBy != nil, $0.lateCount, $0.ownLateCount)
        }
        #expect(
            late <= 1 && ownLate == 0,
            "only a call that another thread had chosen may begin after cancel; \(comment)"
        )
        guard let first = seen.first else { return }
        guard let start = places[first] else {
            Issue.record("a change that the store never made; \(comment)")
            return
        }
        let expected = isCancelled ? history[start...].prefix(seen.count) : history[start...]
        #expect(seen.elementsEqual(expected), comment)
    }
}
