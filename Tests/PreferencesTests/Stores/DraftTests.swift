import FileTestSupport
import PreferencesEditing
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

struct DraftTests {
    struct Frame: Codable, Equatable {
        var x = 0
        var y = 0
    }

    struct Player: PreferenceGroup {
        @Preference("volume", .range(0...100), .formerly("vol")) var volume = 5
        @Preference("frame", .check("must be small") { $0.x + $0.y < 100 }) var frame = Frame()
        @Preference("names") var names: [String] = []
        @Preference("title", .required) var title: String?
    }

    @Test(arguments: StoreKind.allCases)
    func changesAreStoredTogetherByApply(kind: StoreKind) throws {
        try kind.withStore { store in
            store["vol"] = 7
            let changes = Recorder<PreferenceStoreChange>()
            let observation = store.subscribe { changes.record(PreferenceStoreChange($0)) }
            let draft = store.draft()
            let (edited, stored) = (Player(in: draft.store), Player(in: store))
            #expect(edited.volume == 7 && !draft.hasChanges)
            edited.volume = 8
            edited.frame.x = 1
            #expect(edited.volume == 8 && stored.volume == 7 && changes.elements.isEmpty)
            #expect(draft.hasChanges && draft.changes.names == ["vol", "volume", "frame"])
            #expect(draft.changes.old == ["vol": 7] && draft.changes.new["volume"] == 8)
            try draft.apply()
            same(changes.drain().map(\.names), [["vol", "volume", "frame"]])
            #expect(stored.volume == 8 && stored.frame.x == 1 && !draft.hasChanges && store["vol"] == nil)
            edited.volume = 9
            draft.revert()
            #expect(edited.volume == 8 && !draft.hasChanges && changes.elements.isEmpty)
            try draft.apply()
            #expect(changes.elements.isEmpty)
            withExtendedLifetime(observation) {}
        }
    }

    @Test
    func draftFollowsOthersAndMergesWithThem() throws {
        let store = PreferenceStore.inMemory(["volume": 1, "frame": ["x": 1, "y": 1], "names": ["a", "b"]])
        let draft = store.draft()
        let player = Player(in: draft.store)
        let seen = Recorder<Int>()
        let observation = player.$volume.observe { seen.record($0.new) }
        player.frame.x = 5
        player.names.append("c")
        store["volume"] = 2
        store["frame"] = ["x": 2, "y": 7, "later": 1]
        store["names"] = ["z", "a", "b"]
        #expect(player.volume == 2 && seen.elements == [2])
        #expect(player.frame == Frame(x: 5, y: 7) && player.names == ["z", "a", "b", "c"])
        player.frame.y = 8
        store["frame"]?[member: "later"] = 2
        try draft.apply()
        #expect(store["frame"] == ["x": 5, "y": 8, "later": 2] && store["names"] == ["z", "a", "b", "c"])
        #expect(!draft.hasChanges && player.names == ["z", "a", "b", "c"])
        withExtendedLifetime(observation) {}
    }

    @Test
    func resetShowsTheWeakerLayerAndStrongerLayersHideTheDraft() throws {
        let own = PreferenceStore.inMemory(["volume": 1, "frame": ["x": 1]])
        let store = PreferenceStore.layered([
            .arguments(["--frame={\"x\":9}"]), own, PreferenceStore.inMemory(["volume": 3]).readOnly(named: "system"),
        ])
        store.issueHandler = { _ in }
        let draft = store.draft()
        let player = Player(in: draft.store)
        player.$volume.reset()
        #expect(player.volume == 3 && player.$volume.source.name == "system" && !player.$volume.isSet)
        player.frame = Frame(x: 2)
        same(player.frame.x, 9)
        // Changes that a stronger layer hides are followed, too.
        own["frame"] = ["x": 1, "later": 4]
        try draft.apply()
        same(own.contents, ["frame": ["x": 2, "y": 0, "later": 4]])
    }

    @Test
    func brokenRuleLeavesAllAsItIs() throws {
        let store = PreferenceStore.inMemory(["frame": ["x": 1, "y": 1]])
        let draft = store.draft()
        let player = Player(in: draft.store)
        player.volume = 8
        player.frame.x = 60
        store["frame"]?[member: "y"] = 50
        let before = store.contents
        let error = try #require(throws: PreferenceError.self) { try draft.apply() }
        #expect(error.code == .invalid && error.name == "frame" && error.message.contains("must be small"))
        #expect(store.contents == before && draft.hasChanges && draft.store["volume"] == 8)
        player.frame.x = 5
        try draft.apply()
        // A value that breaks the rule was shown as the default.
        #expect(store["frame"] == ["x": 5, "y": 0] && store["volume"] == 8)
        #expect(throws: PreferenceError.self) { try player.$title.write(nil) }
    }

    @Test
    func scopeOfADraftIsApplied() async throws {
        let store = PreferenceStore.inMemory()
        let draft = store.scoped(prefix: "a.").draft()
        Player(in: draft.store).volume = 1
        Player(in: draft.store.scoped(prefix: "b.")).volume = 2
        same(draft.store.contents, ["volume": 1, "b.volume": 2])
        draft.store["b.frame"] = ["x": 200]
        await #expect(throws: PreferenceError.self) { try await draft.apply() }
        draft.store["b.frame"] = nil
        try await draft.apply()
        same(store.contents, ["a.volume": 1, "a.b.volume": 2])
    }

    @Test
    func draftOfAReadOnlyOrManagedStore() throws {
        let fixed = PreferenceStore.inMemory(["volume": 1]).readOnly()
        #expect(throws: PreferenceError.self) { try Player(in: fixed.draft().store).$volume.write(2) }
        let store = PreferenceStore.layered([
            PreferenceStore(backend: FaultInjectingBackend(["volume": 3]), isManaged: true), .inMemory(),
        ])
        let draft = store.draft()
        let error = #expect(throws: PreferenceError.self) { try Player(in: draft.store).$volume.write(2) }
        #expect(error?.code == .managed && Player(in: draft.store).$volume.isManaged)
        try draft.apply()
    }

    @Test
    func applyThatFailsKeepsTheDraft() throws {
        let backend = FaultInjectingBackend(["volume": 1, "frame": ["x": 1, "later": 1]])
        backend.failNext(.load, count: 2)
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { _ in }
        let draft = store.draft()
        let player = Player(in: draft.store)
        player.volume = 4
        player.frame.y = 3
        #expect(throws: PreferenceError.self) { try draft.apply() }
        #expect(draft.hasChanges && player.volume == 4)
        try draft.apply()
        #expect(store["volume"] == 4 && !draft.hasChanges)
        #expect(store["frame"]?[member: "later"] == 1 && store["frame"]?[member: "y"] == 3)
    }

    /// An observer that is called before the values are stored makes the moment in which `apply()` runs.
    @Test
    func editsWhileItIsAppliedStay() throws {
        let store = PreferenceStore.inMemory(["frame": ["x": 0, "y": 0, "later": 1]])
        let draft = store.draft()
        let player = Player(in: draft.store)
        let isFirst = Lock(true)
        let observation = Player(in: store).$frame.observe(at: .willSet) { _ in
            guard isFirst.withLock({ exchange(&$0, with: false) }) else { return }
            player.frame.y = 1
            player.frame.x = 0
            player.volume = 200
            player.volume = 8
            draft.store["title"] = 5
            // Another call, which fails, ends before the first one.
            #expect(throws: PreferenceError.self) { try draft.apply() }
            draft.store["title"] = nil
        }
        player.frame.x = 1
        try draft.apply()
        same(store["frame"], ["x": 1, "y": 0, "later": 1])
        #expect(draft.changes.names == ["frame", "volume"] && player.frame == Frame(x: 0, y: 1))
        store["frame"]?[member: "later"] = 2
        try draft.apply()
        #expect(store.contents == ["frame": ["x": 0, "y": 1, "later": 2], "volume": 8] && !draft.hasChanges)
        withExtendedLifetime(observation) {}
    }

    @Test
    func draftsOverNothingAreMerged() throws {
        let store = PreferenceStore.inMemory()
        let drafts = [store.draft(), store.draft()]
        let players = drafts.map { Player(in: $0.store) }
        players[0].names = ["a", "b", "c"]
        players[1].names = ["a", "b", "d"]
        players[0].frame.x = 5
        players[1].frame.y = 7
        store["frame"] = ["x": 0, "later": 1]
        try drafts[0].apply()
        #expect(Set(players[1].names) == ["a", "b", "c", "d"] && players[1].names.count == 4)
        players[1].names.removeAll { $0 == "b" }
        store["names"] = ["a", "b", "c", "e"]
        try drafts[1].apply()
        #expect(Set(players[0].names) == ["a", "c", "d", "e"] && players[0].names.count == 4)
        #expect(store["frame"]?[member: "later"] == 1 && store["frame"]?[member: "y"] == 7)
    }

    /// A stored value may lack members, stand under a former name, or in another layer.
    @Test(
        arguments: [
            [:], ["frame": ["x": 0]], ["frame": ["x": 0, "y": 0]], ["window": ["x": 0, "later": 1]],
        ] as [[String: PropertyListValue]]
    )
    func membersThatTwoDraftsEditAreBothStored(stored: [String: PropertyListValue]) throws {
        for isWeaker in [false, true] {
            let store: PreferenceStore =
                isWeaker ? .layered([.inMemory(), .inMemory(stored).readOnly()]) : .inMemory(stored)
            let drafts = [store.draft(), store.draft()]
            let frames = drafts.map { Preference("frame", default: Frame(), .formerly("window"), in: $0.store) }
            frames[0][\.x].value = 4
            frames[1].value.y = 2
            for draft in drafts { try draft.apply() }
            let later = isWeaker ? nil : stored["window"].map { _ in 1 as PropertyListValue }
            #expect(store["frame"]?[member: "x"] == 4 && store["frame"]?[member: "y"] == 2)
            #expect(store["frame"]?[member: "later"] == later || isWeaker)
            #expect(frames.allSatisfy { $0.value == Frame(x: 4, y: 2) } && store["window"] == nil || isWeaker)
        }
    }

    private enum Edge: Codable { case left, top }

    private struct Item: Codable, Equatable {
        var id = 0
        var title = ""
    }

    /// Only the type knows which lists are dictionaries, and what a text of JSON has.
    @Test
    func editsAreMergedAsTheTypeStoresThem() throws {
        let store = PreferenceStore.inMemory([
            "edges": [["left": [:]], 1], "items": [["id": 1, "title": "one"], ["id": 2, "title": "two"]],
            "text": #"{"x":0,"y":0}"#, "names": ["a", "b"],
        ])
        let draft = store.draft()
        func edges(_ store: PreferenceStore) -> Preference<[Edge: Int]> { Preference("edges", default: [:], in: store) }
        let items = Preference("items", default: [Item](), in: draft.store)
        let text = Preference("text", default: Frame(), coding: .jsonString, in: draft.store)
        edges(draft.store).value[.left] = 5
        items.value[1].title = "edited"
        text.value.x = 1
        Player(in: draft.store).names.append("d")
        edges(store).value[.top] = 9
        store["items"] = [["id": 1, "title": "one"], ["id": 3, "title": "three"]]
        store["text"] = #"{"x":0,"y":7}"#
        store["names"] = ["a", "x", "y"]
        same(edges(draft.store).value, [.left: 5, .top: 9])
        try draft.apply()
        same(edges(store).value, [.left: 5, .top: 9])
        #expect(items.value.map(\.id) == [1, 3, 2] && items.value.map(\.title) == ["one", "three", "edited"])
        same(text.value, Frame(x: 1, y: 7))
        same(Set(Player(in: store).names), ["a", "b", "x", "y", "d"])
    }

    @Test
    func secretOfADraftIsOneOfTheStore() throws {
        struct Account: PreferenceGroup {
            @Preference("token", .secret) var token = ""
        }
        let store = PreferenceStore.inMemory()
        store.issueHandler = { _ in }
        let seen = Recorder<String>()
        let observation = store.subscribe {
            seen.record("\(PreferenceStoreChange($0) { Set($0.filter(store.core.isSecret)) })")
        }
        let draft = store.draft()
        let account = Account(in: draft.store.scoped(prefix: "ada."))
        account.token = "hunter2"
        #expect(!"\(draft.changes)".contains("hunter2"))
        try draft.apply()
        #expect(store["ada.token"] == "hunter2" && seen.elements.count == 1 && !"\(seen.elements)".contains("hunter2"))
        withExtendedLifetime((observation, account)) {}
    }

    @Test
    func draftIsRefreshedAndWritableAsItsStoreIs() throws {
        let backend = FaultInjectingBackend(["volume": 1])
        let store = PreferenceStore(backend: backend)
        store.issueHandler = { _ in }
        let draft = store.draft()
        #expect(Player(in: draft.store).volume == 1 && draft.store.isWritable)
        backend.failNext(.refresh, count: .max)
        backend.changeOutside(["volume": 2])
        backend.failNext(.refresh, count: 0)
        try draft.store.load()
        same(Player(in: draft.store).volume, 2)
        #expect(!PreferenceStore.inMemory().readOnly().draft().store.isWritable)
    }

    // MARK: A model

    /// The edits of one draft, member by member: the new value, and the one that it was compared with.
    private struct Model {
        var edits: [String: (new: Int64?, base: Int64?)] = [:]

        func shown(_ stored: [String: Int64]) -> [String: Int64] {
            var shown = stored
            for (name, edit) in edits where edit.new != edit.base || !name.hasPrefix("frame") { shown[name] = edit.new }
            return shown
        }

        mutating func edit(_ name: String, _ new: Int64?, _ stored: [String: Int64]) {
            let known = edits[name]
            let base = known.map { $0.new != $0.base && new != $0.base ? $0.base : stored[name] } ?? stored[name]
            edits[name] = (new, base)
        }
    }

    private static func flat(_ store: PreferenceStore) -> [String: Int64] {
        var flat: [String: Int64] = [:]
        for (name, value) in store.contents {
            if case .integer(let value) = value { flat[name] = value }
            guard case .dictionary(let members) = value else { continue }
            for case (let member, .integer(let value)) in members { flat["\(name).\(member)"] = value }
        }
        return flat
    }

    @Test
    func twoDraftsAndOthersInAnyOrder() throws {
        for seed in 0..<UInt64(rounds(3000)) {
            var random = SeededGenerator(seed: seed)
            let store = PreferenceStore.inMemory(["frame": ["x": 0, "y": 0, "later": 0], "volume": 1])
            let drafts = [store.draft(), store.draft()]
            let players = drafts.map { Player(in: $0.store) }
            var models = [Model(), Model()]
            var stored = Self.flat(store)
            let lasts = drafts.map { _ in Recorder<(old: Int, new: Int)>() }
            let observations = zip(players, lasts).map { player, last in
                player.$volume.observe { last.record(($0.old, $0.new)) }
            }
            var log: [String] = []
            for _ in 0..<Int.random(in: 1...9, using: &random) {
                let index = Int.random(in: 0...1, using: &random)
                let value = Int64.random(in: 0...3, using: &random)
                let act = ["volume", "reset", "frame.x", "frame.y", "other", "later", "x of others", "apply", "revert"]
                    .pick(&random)
                log.append("\(act) \(index) \(value)")
                switch act {
                case "volume":
                    players[index].volume = Int(value)
                    models[index].edit("volume", value, stored)
                case "reset":
                    players[index].$volume.reset()
                    models[index].edit("volume", nil, stored)
                case "frame.x":
                    players[index].frame.x = Int(value)
                    if models[index].shown(stored)["frame.x"] != value { models[index].edit("frame.x", value, stored) }
                case "frame.y":
                    players[index].$frame[\.y].value = Int(value)
                    if models[index].shown(stored)["frame.y"] != value { models[index].edit("frame.y", value, stored) }
                case "other":
                    store["volume"] = .integer(value)
                    stored["volume"] = value
                case "later":
                    store["frame"]?[member: "later"] = .integer(value)
                    stored["frame.later"] = value
                case "x of others":
                    store["frame"]?[member: "x"] = .integer(value)
                    stored["frame.x"] = value
                case "apply":
                    let shown = drafts[index].store.contents
                    try drafts[index].apply()
                    same(store.contents, shown, "apply stores what the draft shows: \(seed) \(log)")
                    stored = models[index].shown(stored)
                    models[index] = Model()
                    #expect(!drafts[index].hasChanges)
                default:
                    drafts[index].revert()
                    models[index] = Model()
                    #expect(drafts[index].store.contents == store.contents && !drafts[index].hasChanges)
                }
                same(Self.flat(store), stored, "\(seed) \(log)")
                for (draft, model) in zip(drafts, models) {
                    let shown = model.shown(stored)
                    guard Self.flat(draft.store) == shown else {
                        Issue.record("\(seed) \(log): \(Self.flat(draft.store)), and not \(shown)")
                        return
                    }
                    same(draft.hasChanges, shown != stored)
                }
            }
            for (player, last) in zip(players, lasts) {
                let changes = last.elements
                #expect(changes.last?.new ?? 1 == player.volume && changes.first?.old ?? 1 == 1, "\(seed) \(log)")
                #expect(
                    zip(changes, changes.dropFirst()).allSatisfy { $0.new == $1.old }
                        && changes.allSatisfy { $0.old != $0.new }
                )
            }
            withExtendedLifetime(observations) {}
        }
    }
}
