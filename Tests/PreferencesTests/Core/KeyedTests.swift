import FileTestSupport
import Foundation
import PreferencesTesting
import Synchronization
import TestSupport
import Testing

@testable import Preferences

/// Stores over a place that is asked for single names and calls observers from inside a set, as user defaults are.
@Suite(.timeLimit(.minutes(5)))
struct KeyedTests {
    /// A stand-in of user defaults: a set calls the observers on its thread, and holds a recursive lock meanwhile.
    private final class Domain: @unchecked Sendable {  // `lock` guards it
        private let lock = NSRecursiveLock()
        private var values: [String: PropertyListValue] = [:]
        private var observers: [Int: @Sendable (String) -> Void] = [:]
        private var lastNumber = 0
        /// The name that can't be read.
        private var failing: String?
        let asked = Recorder<String>()

        func read(_ name: String) throws -> PropertyListValue? {
            asked.record(name)
            return try lock.withLock {
                if failing == name { throw PreferenceError(.unavailable, "it is locked") }
                return values[name]
            }
        }

        subscript(name: String) -> PropertyListValue? {
            get { lock.withLock { values[name] } }
            set {
                lock.withLock {
                    values[name] = newValue
                    for observer in observers.values { observer(name) }
                }
            }
        }

        func setSilently(_ name: String, to value: PropertyListValue?) { lock.withLock { values[name] = value } }

        func fail(_ name: String?) { lock.withLock { failing = name } }

        func observe(_ body: @escaping @Sendable (String) -> Void) -> Int {
            lock.withLock {
                lastNumber += 1
                observers[lastNumber] = body
                return lastNumber
            }
        }

        func remove(_ number: Int) { lock.withLock { observers[number] = nil } }
    }

    /// `change` only queues; `finish` writes in the order of the queue, one thread at a time.
    private final class DomainBackend: Backend, @unchecked Sendable {  // `state` is a lock
        let place = "a domain"
        let isKeyed = true
        let saysWhenItWaits = true
        private let domain: Domain
        private var number = 0
        private let state = Lock(State())

        private struct State {
            var queue: [StoredChange] = []
            /// The newest value of each name that isn't written yet, and how often it is in the queue.
            var pending: [String: (value: PropertyListValue?, count: Int)] = [:]
            var changed: Set<String> = []
            var writer: ThreadIdentity?
        }

        init(_ domain: Domain) { self.domain = domain }
        deinit { domain.remove(number) }

        func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
            number = domain.observe { [weak self] name in
                self?.state.withLock { _ = $0.changed.insert(name) }
                host.changed()
            }
            return []
        }

        func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

        func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
            let changes = try body(.none)
            state.withLock { state in
                for change in changes {
                    state.queue.append(change)
                    state.pending[change.name] = (change.value, (state.pending[change.name]?.count ?? 0) + 1)
                }
            }
        }

        func values(for names: [String]?) throws(PreferenceError) -> [StoredChange] {
            let asked = names ?? state.withLock { Array(exchange(&$0.changed, with: [])) }
            do {
                return try asked.map { name in
                    // First what isn't written: then the domain has all that was.
                    if let pending = state.withLock({ $0.pending[name] }) { return StoredChange(name, pending.value) }
                    return StoredChange(name, try domain.read(name))
                }
            } catch {
                if names == nil { state.withLock { $0.changed.formUnion(asked) } }
                throw PreferenceError(.unavailable, from: error)
            }
        }

        func finish() {
            // Again on the same thread, from an observer: what is being written is in the domain already.
            let (mayWrite, isOuter) = state.withLock { state in
                let writer = state.writer
                if writer == nil { state.writer = .current }
                return (writer == nil || writer == .current, writer == nil)
            }
            guard mayWrite else { return }
            while let change = state.withLock({ state -> StoredChange? in
                if state.queue.isEmpty {
                    if isOuter { state.writer = nil }
                    return nil
                }
                return state.queue.removeFirst()
            }) {
                domain[change.name] = change.value
                state.withLock { state in
                    state.pending[change.name]?.count -= 1
                    if state.pending[change.name]?.count == 0 { state.pending[change.name] = nil }
                }
            }
        }
    }

    private let domain = Domain()

    private func makeStore() -> PreferenceStore { PreferenceStore(Layer(source: Source(DomainBackend(domain)))) }

    @Test
    func backendKeepsTheContract() async throws {
        try await PreferenceBackendContract.verify {
            let domain = Domain()
            return PreferenceBackendPlace { DomainBackend(domain) }
        }
    }

    @Test
    func nameIsAskedForOnceWhenItIsFirstUsed() async throws {
        domain["n"] = 3
        let store = makeStore()
        let (n, a) = (Preference("n", default: 0, in: store), Preference("a", default: 0, in: store))
        for _ in 0..<3 { #expect(n.value == 3 && a.value == 0 && store["n"] == 3) }
        same(domain.asked.drain().sorted(), ["a", "n"])
        n.value = 4
        same(domain["n"], 4)
        try await n.update { $0 += 1 }
        same(domain["n"], 5)
        domain["a"] = 7
        await eventually { a.value == 7 }
        n.reset()
        #expect(domain["n"] == nil && n.value == 0)
    }

    @Test
    func eachWayToUseAPreferenceFindsItsValue() throws {
        domain["a"] = 1
        let uses: [(Preference<Int>) throws -> Int?] = [
            { $0.value }, { try $0.read() }, { $0.isSet ? 1 : nil }, { $0.storedValue == 1 ? 1 : nil },
            { $0.source == .store ? 1 : nil }, { try $0.update { $0 } }, { a in try a.store.transaction { $0[a] } },
            { a in try a.store.transaction { $0["a"] == 1 ? 1 : nil } },
            { a in try a.store.transaction { $0.contents["a"] == 1 ? 1 : nil } },
        ]
        for use in uses {
            try same(use(Preference("a", default: 0, in: makeStore())), 1)
            try same(use(Preference("a", default: 0, in: .layered([makeStore(), .inMemory()]))), 1)
        }
    }

    /// Those that the store has declared, read or set: of others it can't know.
    @Test
    func namesInUseAreListedAndRemoved() {
        for name in ["a", "b", "others"] { domain[name] = 1 }
        let store = makeStore()
        let a = Preference("a", default: 0, in: store)
        store["new"] = 4
        same(store.contents, ["a": 1, "new": 4])
        same(store["b"], 1)
        same(store.names, ["a", "b", "new"])
        store.removeAll()
        #expect(!a.isSet && domain["a"] == nil && domain["others"] == 1)
    }

    /// Any value might have changed, of which the framework doesn't say.
    @Test
    func outdatedNameIsAskedForAgain() async throws {
        domain["n"] = 3
        let store = makeStore()
        let n = Preference("n", default: 0, in: .layered([store, .inMemory(["n": 9])]))
        let seen = Recorder<Int>()
        let observation = n.observe { seen.record($0.new) }
        same(n.value, 3)
        for (stored, value) in [(4, 4), (nil, 9)] as [(PropertyListValue?, Int)] {
            domain.setSilently("n", to: stored)
            #expect(store.core.layers[0].source.outdate())
            same(n.value, value)
        }
        await eventually { seen.elements == [4, 9] }
        withExtendedLifetime(observation) {}
    }

    /// The body runs again when a name was asked for.
    @Test
    func transactionReadsNamesThatNobodyHasAskedFor() async throws {
        domain["raw"] = 1
        let store = makeStore()
        func copy(_ name: String) throws { try store.transaction { $0["copy"] = $0[name] } }
        try copy("raw")
        same(domain["copy"], 1)
        domain["raw 2"] = 2
        try await store.transaction { $0["copy"] = $0["raw 2"] }
        same(domain["copy"], 2)
        try copy("absent")
        same(domain["copy"], nil)
    }

    @Test
    func observerOfTheDomainMaySetTheSameName() {
        let b = Preference("b", default: 0, in: makeStore())
        let number = domain.observe { [domain] name in if name == "b", domain["b"] != 10 { b.value = 10 } }
        b.value = 1
        #expect(b.value == 10 && domain["b"] == 10)
        domain.remove(number)
    }

    /// Whoever asks again might ask a person, so that only the next use and the next event do.
    @Test
    func nameThatCouldNotBeReadIsReadAtTheNextUse() throws {
        domain["n"] = 3
        domain.fail("n")
        let store = makeStore()
        let issues = store.recordIssues()
        let n = Preference("n", default: 0, in: store)
        same(n.value, 0)
        same(issues.elements.map(\.code), [.unavailable])
        let source = store.core.layers[0].source
        #expect(!source.isLookRepeated.load(ordering: .relaxed) && !source.isLookQueued.load(ordering: .relaxed))
        domain.fail(nil)
        same(n.value, 3)
    }

    /// A change whose look fails is shown later by itself.
    @Test
    func changeThatCouldNotBeReadIsShownLater() async {
        let store = makeStore()
        store.issueHandler = { _ in }
        let n = Preference("n", default: 0, in: store)
        same(n.value, 0)
        domain.fail("n")
        domain["n"] = 3
        let source = store.core.layers[0].source
        await eventually { source.isLookRepeated.load(ordering: .relaxed) }
        domain.fail(nil)
        await eventually { n.value == 3 }
    }

    /// A name that can't be read keeps no other from being shown.
    @Test
    func changeIsShownWhileAnotherNameCanNotBeRead() async {
        let store = makeStore()
        let issues = store.recordIssues()
        let (n, a) = (Preference("n", default: 0, in: store), Preference("a", default: 0, in: store))
        domain.fail("n")
        #expect(n.value == 0 && a.value == 0)
        domain["a"] = 1
        await eventually { a.value == 1 }
        domain["a"] = 2
        await eventually { a.value == 2 }
        #expect(n.value == 0 && issues.elements.map(\.code) == [.unavailable])
    }

    /// Several suites, code that sets the domain itself, and its observers, which set, read and open stores from inside a set: nothing hangs,
    /// nothing is lost, and each name's values are seen in their order.
    @Test
    func suitesOverOneDomainAgree() async {
        for _ in 0..<rounds(20) {
            let domain = Domain()
            let suites = (0..<3).map { _ in PreferenceStore(Layer(source: Source(DomainBackend(domain)))) }
            let counter = Counter()
            let inside = domain.observe { name in
                guard name.hasPrefix("own") else { return }
                switch counter.next() % 5 {
                case 0: suites[0]["echo"] = .string(name)
                case 1: _ = Preference("n", default: 0, in: suites[1]).value
                case 2: PreferenceStore(Layer(source: Source(DomainBackend(domain))))["opened"] = 1
                case 3: insist { try Preference("b", default: 0, in: suites[2]).update { $0 += 1 } }
                default: break
                }
            }
            let seen = Recorder<(suite: Int, name: String, value: Int)>()
            let names = (0..<3).map { "own\($0)" } + ["ext"]
            let observations = suites.enumerated().flatMap { suite, store in
                names.map { name in
                    Preference(name, default: -1, in: store).observe { seen.record((suite, name, $0.new)) }
                }
            }
            await onThreads(7) { thread in
                for value in 0..<40 {
                    switch thread {
                    case 0...2:
                        let own = Preference("own\(thread)", default: -1, in: suites[thread])
                        own.value = value
                        if own.value != value { Issue.record("\(own.value), not \(value)") }
                    case 3: domain["ext"] = .integer(Int64(value))
                    case 4, 5: insist { try Preference("n", default: 0, in: suites[0]).update { $0 += 1 } }
                    default:
                        insist {
                            try suites[1].transaction { transaction in
                                transaction["x"] = .integer(Int64(value))
                                transaction["y"] = transaction["x"]
                            }
                        }
                    }
                }
            }
            same(["own0", "own1", "own2", "n", "x", "y"].map { domain[$0] }, [39, 39, 39, 80, 39, 39])
            for name in names + ["n", "x", "y", "echo", "opened", "b"] {
                for suite in suites { await eventually { suite[name] == domain[name] } }
            }
            for suite in 0..<3 {
                for name in names {
                    let values = seen.elements.filter { $0.suite == suite && $0.name == name }.map(\.value)
                    same(values, Array(Set(values)).sorted(), "suite \(suite), \(name)")
                }
            }
            domain.remove(inside)
            withExtendedLifetime(observations) {}
        }
    }
}
