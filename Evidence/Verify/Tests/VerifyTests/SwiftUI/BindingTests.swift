import Foundation
import SwiftUI
import Testing

@testable import Preferences

@MainActor
struct BindingTests {
    private let store = PreferenceStore.inMemory()

    /// A field in a view that is evaluated again for a separate reason.
    private struct Counting: View {
        @PreferenceState<String> var name: String
        let count: Preference<Int>

        init(_ store: PreferenceStore) {
            _name = PreferenceState(wrappedValue: "Pitt", "name", in: store)
            count = Preference("count", default: 0, in: store)
        }

        var body: some View {
            Text("\(count.value)")
            Field(text: $name)
        }
    }

    private struct Field: View {
        @Binding<String> var text: String

        init(text: Binding<String>) { _text = text }

        var body: some View { TextField("Name", text: $text) }
    }

    /// A view with fields that is created again each time that `Counting` is evaluated.
    private struct Rows: View {
        let count: Preference<Int>
        let store: PreferenceStore

        var body: some View {
            Text("\(count.value)")
            Row(store)
        }
    }

    private struct Row: View {
        @PreferenceState<String> var name: String

        init(_ store: PreferenceStore) {
            _name = PreferenceState(wrappedValue: "Pitt", "name", in: store)
        }

        var body: some View { Text(name) }
    }

    /// A control that isn't notified of changes, next to one that is.
    private struct Form: View {
        @PreferenceState<String> var name: String

        init(_ preference: Preference<String>) { _name = PreferenceState(preference) }

        var body: some View {
            TextField("Name", text: $name)
            UntrackedField("Other", text: $name)
        }
    }

    @Test
    func bindingsOfOnePreferenceAreEqual() {
        let (first, second) = (AppPreferences(in: store), AppPreferences(in: store))
        let binding = first.$name.binding
        #expect(binding.isEqual(to: first.$name.binding))
        #expect(binding.isEqual(to: second.$name.binding))
        #expect(binding.isEqual(to: PreferenceState(first.$name).projectedValue))
        #expect(!binding.isEqual(to: first.$name.bound(to: .inMemory()).binding))
        #expect(!binding.isEqual(to: Preference("user.name", default: "Al", in: store).binding))
        #expect(!binding.isEqual(to: binding.animation(.default)))
        first.name = "Jo"
        #expect(!binding.isEqual(to: first.$name.binding))
        #expect(binding.wrappedValue == "Jo")
    }

    @Test
    func defaultsOfTwoViewsStayApart() {
        func binding(_ value: String) -> Binding<String> {
            PreferenceState(wrappedValue: value, "name", in: store).projectedValue
        }
        let (first, second) = (binding("a"), binding("b"))
        #expect(first.wrappedValue == "a")
        #expect(second.wrappedValue == "b")
    }

    @Test
    func bindingsByFunctionsAreEqualToNoOther() {
        let name = AppPreferences(in: store).$name
        func binding() -> Binding<String> {
            Binding {
                name.value
            } set: { value, _ in
                name.value = value
            }
        }
        #expect(!binding().isEqual(to: binding()))
    }

    @Test
    func childWithABindingIsEvaluatedOnlyIfItsValueChanges() {
        let view = Counting(store)
        let host = Host(view)
        view.count.value += 1
        host.update()
        #expect(host.texts == ["1"])
        #expect(host.bodies == ["Counting": 2, "Field": 1])
        host.enter("Jo", into: "Name")
        host.update()
        #expect(host.shown(in: "Name") == "Jo")
        #expect(host.bodies == ["Counting": 3, "Field": 2])
        host.update(to: Counting(store))
        #expect(host.bodies == ["Counting": 4, "Field": 2])
    }

    @Test
    func childWithABindingOfTheEnvironmentsStoreIsEvaluatedOnlyIfItsValueChanges() {
        let preview = PreferenceStore.inMemory(["name": "Jo"])
        let view = Counting(store)
        let host = Host(view.preferenceStore(preview))
        #expect(host.shown(in: "Name") == "Jo")
        view.count.value += 1
        host.update()
        #expect(host.bodies == ["Counting": 2, "Field": 1])
        preview["name"] = "Al"
        host.update()
        #expect(host.shown(in: "Name") == "Al")
        #expect(host.bodies == ["Counting": 3, "Field": 2])
    }

    @Test
    func viewWithAPreferenceOfItsOwnIsEvaluatedOnlyIfItsValueChanges() {
        let count = Preference("count", default: 0, in: store)
        let host = Host(Rows(count: count, store: store))
        count.value += 1
        host.update()
        #expect(host.texts == ["1", "Pitt"])
        #expect(host.bodies == ["Rows": 2, "Row": 1])
        store["name"] = "Jo"
        host.update()
        #expect(host.texts == ["1", "Jo"])
        #expect(host.bodies == ["Rows": 2, "Row": 2])
    }

    @Test
    func rejectedSetIsOneBodyMoreAndShowsTheStoredValue() throws {
        let issues = Log<PreferenceError.Code>()
        store.issueHandler = { issues.append($0.code) }
        let host = Host(Form(Preference("name", default: "Pitt", .length(1...5), in: store)))
        host.enter("A name that is too long", into: "Name")
        #expect(host.shown(in: "Name") == "A name that is too long")
        host.update()
        #expect(host.shown(in: "Name") == "Pitt")
        #expect(host.bodies == ["Form": 2])
        host.enter("", into: "Other")
        host.update()
        #expect(host.shown(in: "Other") == "Pitt")
        #expect(host.bodies == ["Form": 3])
        host.enter("Jo", into: "Other")
        host.update()
        #expect(host.shown(in: "Name") == "Jo")
        #expect(host.bodies == ["Form": 4])
        #expect(issues.all == [.invalid, .invalid])
    }

    @Test
    func setThatAStrongerLayerHidesOrForbidsShowsThatLayersValue() throws {
        for isManaged in [false, true] {
            var boss = Layer(source: Source(["name": "Boss"]))
            (boss.isReadOnly, boss.isManaged) = (true, isManaged)
            let layered = PreferenceStore.layered([
                PreferenceStore(boss), store,
            ])
            layered.issueHandler = { _ in }
            let host = Host(Form(Preference("name", default: "Pitt", in: layered)))
            for (bodies, control) in zip(2..., ["Name", "Other"]) {
                host.enter("Jo", into: control)
                host.update()
                #expect(host.shown(in: control) == "Boss")
                #expect(host.bodies == ["Form": bodies])
            }
        }
        let arguments = PreferenceStore.arguments(["-name", "Al"])
        arguments.issueHandler = { _ in }
        let host = Host(Form(Preference("name", default: "Pitt", in: arguments)))
        host.enter("Jo", into: "Name")
        host.update()
        #expect(host.shown(in: "Name") == "Al")
    }

    @Test
    func rejectedSetOfThePropertyIsOneBodyMore() {
        store.issueHandler = { _ in }
        let row = Row(store)
        let host = Host(row)
        row.name = "Jo"
        host.update()
        #expect(host.bodies == ["Row": 2])
        let short = Preference("name", default: "", .length(1...3), in: store)
        PreferenceState(short).wrappedValue = "too long"
        host.update()
        #expect(host.texts == ["Jo"])
        #expect(host.bodies == ["Row": 3])
        // A set that isn't made by a view doesn't cause an evaluation.
        short.value = "too long"
        host.update()
        #expect(host.bodies == ["Row": 3])
    }

    @Test
    func groupOfAKeyPathIsKeptAndIsolated() {
        let state = PreferenceState(\AppPreferences.$name)
        #expect(state.preference.declaration === PreferenceState(\AppPreferences.$name).preference.declaration)
        PreferenceStore.withIsolatedStores(["user.name": "Jo"]) {
            #expect(state.wrappedValue == "Jo")
            let host = Host(Form(PreferenceState(\AppPreferences.$name).preference))
            host.enter("Al", into: "Name")
            host.update()
            #expect(host.shown(in: "Other") == "Al")
            #expect(state.wrappedValue == "Al")
        }
        PreferenceStore.withIsolatedStores { #expect(state.wrappedValue == "Pitt") }
    }
}
