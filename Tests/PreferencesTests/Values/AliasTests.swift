import Preferences
import TestSupport
import Testing

struct AliasTests {
    private enum Look: String, Sendable { case system, dark }

    private let store = PreferenceStore.inMemory(["look": "night"])

    @Test
    func formerRawValueReadsAsTheNewCase() {
        let look = Preference("look", default: Look.system, coding: .rawValue(aliases: ["night": .dark]), in: store)
        same(look.value, .dark)
        same(store["look"], "night", "a read never writes")
        look.value = .dark
        same(store["look"], "dark")
    }

    @Test
    func optionalTakesAliasesToo() throws {
        let look = Preference<Look?>("look", coding: .rawValue(aliases: ["night": .dark]), in: store)
        try same(look.read(), .dark)
        look.value = nil
        #expect(store.names.isEmpty)
    }

    @Test
    func rawValueWithoutAnAliasIsUnreadable() {
        store["look"] = "noon"
        let look = Preference("look", default: Look.system, coding: .rawValue(aliases: ["night": .dark]), in: store)
        let error = #expect(throws: PreferenceError.self) { try look.read() }
        same(error?.code, .unreadable)
    }

    @Test
    func declarationsWithDifferentAliasesShareNoValue() {
        store.issueHandler = { _ in }
        let one = Preference("look", default: Look.system, coding: .rawValue(aliases: ["night": .dark]), in: store)
        let other = Preference("look", default: Look.system, coding: .rawValue, in: store)
        same(one.value, .dark)
        same(other.value, .system)
    }
}
