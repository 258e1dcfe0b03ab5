import PreferencesEditing
import PreferencesTesting
import PreferencesValidation
import TestSupport
import Testing

@testable import Preferences

/// Drafts and validated stores, and the turns of the store below.
struct StoreOverStoreTests {
    private typealias Service = ServicePreferences

    /// The edit is compared with what the body has read.
    @Test
    func listThatIsSetWhileADraftIsEditedLosesNothing() throws {
        let store = PreferenceStore.inMemory(["list": ["old"]])
        let draft = store.draft()
        let list = Preference("list", default: [String](), in: draft.store)
        try draft.store.transaction { transaction in
            var elements = transaction[list]
            store["list"] = ["old", "other"]
            elements.append("own")
            transaction[list] = elements
        }
        same(Set(list.value), ["old", "other", "own"])
        try draft.apply()
        same(store["list"].map { "\($0)".count }, "[\"old\", \"other\", \"own\"]".count)
    }

    @Test
    func draftsAppliedAtOnceLoseNothing() async throws {
        let store = PreferenceStore.inMemory(["list": []])
        await onThreads(4) { thread in
            let draft = store.draft()
            let list = Preference("list", default: [String](), in: draft.store)
            for round in 0..<25 {
                insist {
                    try list.update { $0.append("\(thread).\(round)") }
                    try draft.apply()
                }
            }
        }
        let list = Preference("list", default: [String](), in: store).value
        #expect(list.count == 100 && Set(list).count == 100, "\(list)")
    }

    @Test
    func transactionOfTheOriginalStoreIsOneInTheDraft() {
        let store = PreferenceStore.inMemory()
        let draft = store.draft()
        let changes = Recorder<Set<String>>()
        let observation = draft.store.subscribe { changes.record(PreferenceStoreChange($0).names) }
        #expect(throws: Never.self) {
            try store.transaction {
                $0["a"] = 1
                $0["b"] = 2
            }
        }
        same(changes.elements, [["a", "b"]])
        withExtendedLifetime(observation) {}
    }

    @Test
    func bodyOfTheOriginalStoreMaySetTheDraftAndNotApplyIt() throws {
        let store = PreferenceStore.inMemory()
        let draft = store.draft()
        let volume = Preference("volume", default: 5, in: draft.store)
        try store.transaction { transaction in
            transaction["other"] = 1
            volume.value = 7
            let error = #expect(throws: PreferenceError.self) { try draft.apply() }
            same(error?.code, .misuse)
        }
        #expect(volume.value == 7 && draft.changes.names == ["volume"] && store.contents == ["other": 1])
    }

    @Test
    func bodyOfTheOriginalStoreMaySetTheValidatedOne() async throws {
        let base = PreferenceStore.inMemory(["host": "a"])
        let store = try PreferenceStore.validated(Service.self, over: base)
        let service = Service(in: store)
        let issues = store.recordIssues()
        // The blocking form, whose body runs in the turn.
        func set() throws {
            try base.transaction { transaction in
                transaction["mode"] = "wide"
                service.port = 91
                same(service.port, 91, "it is shown at once")
                let error = #expect(throws: PreferenceError.self) { try service.$port.write(92) }
                same(error?.code, .misuse)
            }
        }
        try set()
        await eventually { base["port"] == 91 && service.mode == .wide }
        #expect(service.port == 91 && issues.elements.isEmpty, "\(issues.elements)")
    }

    @Test
    func updateReadsWhatIsNewestAndNotShown() async throws {
        let base = PreferenceStore.inMemory(["host": "a", "port": 90])
        base.issueHandler = { _ in }
        let store = try PreferenceStore.validated(Service.self, over: base)
        let service = Service(in: store)
        try await base.transaction {
            $0["mode"] = "tall"
            $0["port"] = 70
            $0["frame"] = ["width": 3, "later": 1]
        }
        await eventually { !service.problems.isEmpty }
        #expect(service.port == 90 && service.frame.width == 1 && service.mode == .plain)
        try await service.$port.update { $0 += 1 }
        #expect(service.port == 71 && base["port"] == 71)
        service.frame.width = 4
        same(base["frame"], ["width": 4, "mode": "plain", "modes": [], "later": 1])
        same(try await store.transaction { $0["mode"] }, "tall")
        same(try await store.transaction { $0.contents["mode"] }, "tall")
        #expect(throws: PreferenceError.self) { try service.$mode.update { $0 = .wide } }
        // The value that is shown is stored, as another one is stored below.
        service.mode = .plain
        same(base["mode"], "plain")
        await eventually { service.problems.isEmpty && store.contents == base.contents }
    }

    @Test
    func problemsSayWhyAnOldStateIsShown() async throws {
        let backend = FaultInjectingBackend(["host": "a"])
        let base = PreferenceStore(backend: backend)
        let service = Service(in: try .validated(Service.self, over: base))
        let issues = base.recordIssues()
        #expect(service.problems.isEmpty)
        backend.changeOutside(["port": "ninety"])
        await eventually { !service.problems.isEmpty }
        let problem = try #require(service.problems.first)
        #expect(problem.code == .unreadable)
        #expect(problem.message.contains("the last valid values of the group stay in use"))
        #expect(throws: PreferenceProblems.self) { try service.check() }
        backend.changeOutside(["port": 7])
        await eventually { service.problems.isEmpty }
        #expect(service.port == 7 && issues.elements.count == 1)
    }

    @Test
    func writesOfAValidatedStoreAreCheckedAndStoredBelow() async throws {
        let base = PreferenceStore.inMemory(["host": "a", "port": 90])
        let store = try PreferenceStore.validated(Service.self, over: base)
        let issues = store.recordIssues()
        let service = Service(in: store)
        service.port = 91
        #expect(service.port == 91 && base["port"] == 91)
        service.frame.width = 2
        try await service.$mode.write(.wide)
        try await service.$port.update { $0 += 1 }
        try await store.transaction { $0[service.$host] = "b" }
        try await store.flush()
        #expect(service.port == 92 && service.mode == .wide && service.host == "b" && service.frame.width == 2)
        #expect(base.contents == store.contents && service.$port.source == .store && service.$port.isSet)
        let before = base.contents
        #expect(throws: PreferenceError.self) { try store.write("ninety", for: "port") }
        #expect(throws: PreferenceError.self) { try store.transaction { $0["frame"] = ["mode": "tall"] } }
        #expect(throws: PreferenceError.self) { try store.write(nil, for: "host") }
        service.$host.reset()
        #expect(issues.elements.map(\.code) == [.invalid] && base.contents == before && service.host == "b")
    }

    /// A change that a stronger layer hides is one for updates.
    @Test
    func updateReadsAHiddenChange() throws {
        let own = PreferenceStore.inMemory(["port": 2])
        let base = PreferenceStore.layered([.inMemory(["port": 1, "host": "a"]).readOnly(named: "strong"), own])
        base.issueHandler = { _ in }
        let store = try PreferenceStore.validated(Service.self, over: base)
        let service = Service(in: store)
        own["port"] = 3
        try service.$port.update { $0 += 1 }
        #expect(own["port"] == 4 && service.port == 1 && service.$port.source.name == "strong")
    }

    /// Both values are always set together, by several threads, with states between that aren't valid.
    @Test
    func onlyWholeStatesAreShown() async throws {
        let base = PreferenceStore.inMemory(["host": "a", "port": 1, "twin": 1])
        base.issueHandler = { _ in }
        let draft = base.draft()
        let stores = [try PreferenceStore.validated(Service.self, over: base), draft.store]
        let broken = Recorder<String>()
        let observations = stores.map { store in
            let state = Lock(["port": 1, "twin": 1] as [String: PropertyListValue])
            _ = store["port"]
            return store.subscribe { batch in
                let change = PreferenceStoreChange(batch)
                let shown = state.withLock { state in
                    for name in change.names { state[name] = change.new[name] }
                    return state
                }
                if shown["port"] != shown["twin"] { broken.record("\(shown) after \(change)") }
            }
        }
        await onThreads(3) { thread in
            for round in 1...200 {
                let value = PropertyListValue.integer(Int64(1 + thread * 1000 + round))
                insist {
                    try base.transaction {
                        $0["port"] = value
                        $0["twin"] = value
                        $0["mode"] = round % 3 == 0 ? "tall" : nil
                    }
                }
            }
        }
        base["mode"] = nil
        await eventually { stores.allSatisfy { $0.contents == base.contents } }
        #expect(broken.elements.isEmpty, "\(broken.elements)")
        withExtendedLifetime(observations) {}
    }

    @Test
    func observerOfADraftThatSetsTheOriginalStoreIsCut() {
        let store = PreferenceStore.inMemory()
        let issues = store.recordIssues()
        let draft = store.draft()
        let (volume, shown) = (
            Preference("volume", default: 0, in: store), Preference("volume", default: 0, in: draft.store)
        )
        let observation = shown.observe { volume.value = $0.new + 1 }
        volume.value = 1
        same(issues.elements.map(\.code), [.feedbackLoop])
        withExtendedLifetime(observation) {}
    }
}
