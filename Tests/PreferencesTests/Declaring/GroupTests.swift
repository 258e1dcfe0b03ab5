import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

private struct Inner: PreferenceGroup {
    @Preference("inner.depth") var depth = 1
}

private struct Outer: PreferenceGroup {
    @Preference("outer.count") var count = 0
    @Preference("outer.elsewhere", in: elsewhere) var elsewhere = 0
    let plain = Preference("outer.plain", default: "plain")
    let inner = Inner()
    let optional: Inner? = Inner()
    static let elsewhere = PreferenceStore.inMemory()
}

private enum Accidental {
    static let preference = Preference("accidental", default: 0)
}

private struct Careless: PreferenceGroup {
    @Preference("careless") var count = 0
    init() { _ = Accidental.preference.name }
}

private actor ActorGroup: PreferenceGroup {
    let count = Preference("actor.count", default: 0)
    @Preference("actor.name") var name = "nobody"
    func rename(_ name: String) { self.name = name }
}

/// A cyclic object graph, in which each object refers to all objects.
private final class Graph: @unchecked Sendable {  // written before another thread has it
    private var nodes: [Graph] = []

    static func make() -> Graph {
        let all = (0..<6).map { _ in Graph() }
        for graph in all { graph.nodes = all }
        return all[0]
    }
}

private struct GroupWithGraph: PreferenceGroup {
    let graph = Graph.make()
    let count = Preference("count", default: 0)
}

struct GroupTests {
    @Test
    func groupsOnTwoStoresAreIndependent() throws {
        let (first, second) = (Outer(in: .inMemory()), Outer(in: .inMemory()))
        let seen = Recorder<Int>()
        let observation = second.$count.observe { seen.record($0.new) }
        first.count = 1
        first.plain.value = "first"
        first.inner.depth = 2
        first.optional?.depth += 1
        same(second.count, 0)
        same(second.plain.value, "plain")
        same(second.inner.depth, 1)
        #expect(seen.elements.isEmpty)
        same(first.$count.store.names, ["inner.depth", "outer.count", "outer.plain"])
        same(first.inner.depth, 3, "nested groups are bound too")
        #expect(first.$elsewhere.store === Outer.elsewhere, "an explicit store stays")
        withExtendedLifetime(observation) {}
    }

    @Test
    func innerBindingEndsWithItsGroup() {
        let (outer, inner) = (PreferenceStore.inMemory(), PreferenceStore.inMemory())
        struct Both: PreferenceGroup {
            @TaskLocal static var inner = PreferenceStore.inMemory()
            let bound = Inner(in: inner)
            let after = Preference("after", default: 0)
        }
        let both = Both.$inner.withValue(inner) { Both(in: outer) }
        #expect(both.bound.$depth.store === inner)
        #expect(both.after.store === outer)
        #expect(Inner().$depth.store === PreferenceStore.standard)
    }

    @Test
    func staticBoundByAccidentIsReported() throws {
        let store = PreferenceStore.inMemory()
        let issues = store.recordIssues()
        let group = Careless(in: store)
        let error = try #require(issues.elements.first)
        same(issues.elements.count, 1)
        same(error.code, .misuse)
        same(error.name, "accidental")
        _ = Careless(in: store)
        same(issues.elements.count, 1, "it was bound before")
        group.count = 1
        same(issues.elements.count, 1)
    }

    @Test
    func correctGroupReportsNothing() {
        let store = PreferenceStore.inMemory()
        let issues = store.recordIssues()
        withExtendedLifetime(Outer(in: store)) {}
        withExtendedLifetime(ActorGroup(in: store)) {}
        #expect(issues.elements.isEmpty, "\(issues.elements)")
    }

    @Test
    func actorsAreGroups() async {
        let store = PreferenceStore.inMemory()
        let group = ActorGroup(in: store)
        group.count.value = 5
        await group.rename("somebody")
        same(store.contents, ["actor.count": 5, "actor.name": "somebody"])
    }

    @Test(.timeLimit(.minutes(60)))
    func groupWithACyclicObjectGraphIsBound() {
        let store = PreferenceStore.inMemory()
        #expect(GroupWithGraph(in: store).count.store === store)
    }

    @Test
    func declarationsOfTheSameNameShareTheStoredValue() {
        let store = PreferenceStore.inMemory()
        let number = Preference("shared", default: 1, in: store)
        let other = Preference("shared", default: 2, in: store)
        let wide = Preference("shared", default: 3.5, in: store)
        let optional = Preference<Int?>("shared", in: store)
        let text = Preference("shared", default: "none", in: store)
        let issues = store.recordIssues()
        #expect((number.value, other.value, text.value) == (1, 2, "none"))
        #expect(optional.value == nil && wide.value == 3.5)
        number.value = 7
        #expect((number.value, other.value, wide.value) == (7, 7, 7.0))
        same(optional.value, 7)
        #expect(issues.elements.isEmpty)
        #expect(text.value == "none" && text.value == "none")
        same(issues.elements.map(\.name), ["shared"], "an integer isn't a string")
        text.value = "seven"
        #expect((number.value, other.value, wide.value, text.value) == (1, 2, 3.5, "seven"))
        optional.value = nil
        #expect((number.value, text.value) == (1, "none"))
        #expect(!text.isSet)
    }

    @Test
    func threadsThatFirstUseAPreferenceSeeTheSameValue() async {
        for round in 0..<rounds(200) {
            let store = PreferenceStore.inMemory(["count": .integer(Int64(round)), "name": .string("\(round)")])
            let wrong = Counter()
            let seen = Counter()
            let observations = Recorder<PreferenceObservation>()
            await onThreads(8) { thread in
                let count = Preference("count", default: -1, in: store)
                let name = Preference("name", default: "", in: store)
                if count.value != round || name.value != "\(round)" { wrong.next() }
                // Kept until all threads are done: another thread may be delivering this one's change when `update` returns.
                observations.record(Preference("sum", default: 0, in: store).observe { _ in seen.next() })
                do { try Preference("sum", default: 0, in: store).update { $0 += 1 } } catch { wrong.next() }
            }
            same(wrong.value, 0)
            same(store["sum"], 8)
            #expect(seen.value >= 8)
            for observation in observations.elements { observation.cancel() }
        }
    }
}
