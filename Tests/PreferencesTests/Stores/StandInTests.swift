import PreferencesEditing
import PreferencesTesting
import TestSupport
import Testing

@testable import Preferences

/// In a group over a store that stands for another one, a member with a store of its own has a stand-in of that.
struct StandInTests {
    @Test
    func draftIncludesTheStoresOfMembers() throws {
        struct Notebook: PreferenceGroup {
            static let state = PreferenceStore.inMemory(["notes": ["a"]])
            @Preference("title") var title = ""
            @Preference("notes", in: state) var notes: [String] = []
        }
        let store = PreferenceStore.inMemory()
        let draft = store.draft()
        let notebook = Notebook(in: draft.store)
        notebook.title = "T"
        notebook.notes.append("b")
        same(Notebook(in: draft.store).notes, ["a", "b"], "all groups over the draft's store show the same")
        same(Notebook(in: draft.store.scoped(prefix: "other.")).notes, ["a", "b"])
        same(Notebook.state["notes"], ["a"])
        #expect(draft.changes.names == ["title", "notes"] && draft.changes.new["notes"] == ["a", "b"])
        try draft.apply()
        #expect(Notebook.state["notes"] == ["a", "b"] && store.contents == ["title": "T"] && !draft.hasChanges)
        notebook.notes = []
        notebook.title = ""
        draft.revert()
        #expect(notebook.notes == ["a", "b"] && notebook.title == "T")
        // One that is in the original store explicitly is in the draft's.
        same(Preference("title", default: "", in: draft.store).value, "T")
    }

    @Test
    func ownStoreIsAppliedLastAndTheErrorSaysWhatIsStored() async throws {
        struct Notebook: PreferenceGroup {
            static let state = PreferenceStore.inMemory()
            @Preference("title") var title = ""
            @Preference("notes", in: state) var notes = 0
        }
        let backend = FaultInjectingBackend()
        let store = PreferenceStore(backend: backend)
        let draft = store.draft()
        let notebook = Notebook(in: draft.store)
        notebook.title = "T"
        notebook.notes = 1
        backend.failNext(.apply)
        let error = try #require(throws: PreferenceError.self) { try draft.apply() }
        #expect(error.message.contains("the changes of \"notes\", in other stores, are stored"), "\(error)")
        #expect(Notebook.state["notes"] == 1 && store["title"] == nil && draft.changes.names == ["title"])
        try await draft.apply()
        #expect(store["title"] == "T" && !draft.hasChanges)
    }

    @Test
    func memberOfADraftThatHasTheOriginalStoreIsInTheDraft() throws {
        struct Part: PreferenceGroup {
            static let base = PreferenceStore.inMemory()
            @Preference("x", in: base) var x = 0
        }
        struct Whole: PreferenceGroup {
            @Preference("y", in: Part.base) var y = 0
            let part = Part(in: Part.base)
        }
        let draft = Part.base.draft()
        let whole = Whole(in: draft.store)
        whole.y = 1
        whole.part.x = 2
        same(draft.store.contents, ["y": 1, "x": 2])
        same(Part.base.contents, [:])
    }

    @Test
    func groupInMemoryReachesNoSharedStore() {
        struct Notebook: PreferenceGroup {
            static let own = PreferenceStore.inMemory(["own": 1])
            @Preference("StandInTests.notes", in: .state) var notes = 0
            @Preference("StandInTests.scoped", in: PreferenceStore.state.scoped(prefix: "a.")) var scoped = 0
            @Preference("own", in: own) var own = 0
        }
        let store = PreferenceStore.inMemory()
        let notebook = Notebook(in: store)
        notebook.notes = 1
        notebook.scoped = 2
        #expect(Notebook(in: store).notes == 1 && Notebook(in: store).scoped == 2)
        same(Notebook(in: .inMemory()).notes, 0)
        #expect(PreferenceStore.state["StandInTests.notes"] == nil)
        #expect(PreferenceStore.state["a.StandInTests.scoped"] == nil)
        same(notebook.own, 1, "one in memory reaches nothing outside")
    }

    @Test
    func groupOverTheStandardStoreKeepsTheStoresOfMembers() {
        struct Notebook: PreferenceGroup {
            static let own = PreferenceStore.inMemory(["own": 1])
            @Preference("own", in: own) var own = 0
        }
        #expect(Notebook(in: .standard).$own.store === Notebook.own)
        #expect(Notebook(in: .layered([.inMemory()])).$own.store === Notebook.own)
    }

    @Test
    func storesOfADraftAreReleased() async {
        struct Notebook: PreferenceGroup {
            static let state = PreferenceStore.inMemory()
            @Preference("title", .check { $0 != "no" }) var title = ""
            @Preference("notes", in: state) var notes = 0
        }
        weak var standIn: PreferenceStore?
        weak var drafted: PreferenceStore?
        weak var original: PreferenceStore?
        do {
            let store = PreferenceStore.inMemory()
            let draft = store.draft()
            let notebook = Notebook(in: draft.store)
            notebook.title = "T"
            notebook.notes = 1
            (standIn, drafted, original) = (notebook.$notes.store, draft.store, store)
            #expect(standIn != nil && drafted != nil && original != nil)
        }
        // A thread of the library may still look after the changes.
        await eventually { standIn == nil && drafted == nil && original == nil }
    }
}
