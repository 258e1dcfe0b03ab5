import Foundation
import Preferences
import TestSupport
import Testing

/// `nil` over a weaker layer's value.
struct UnsetTests {
    func layered(_ system: [String: PropertyListValue]) -> (
        PreferenceStore, user: PreferenceStore, system: PreferenceStore
    ) {
        let (user, below) = (PreferenceStore.inMemory(), PreferenceStore.inMemory(system))
        let store = PreferenceStore.layered([user, below.readOnly(named: "system")])
        store.issueHandler = { _ in }
        return (store, user, below)
    }

    @Test
    func nilHidesAWeakerLayersValue() throws {
        let (store, user, system) = layered(["name": "Pitt", "volume": "loud"])
        let name = Preference<String?>("name", in: store)
        try name.write(nil)
        #expect(user["name"] == ["$unset": true] && name.value == nil && name.isSet)
        try same(name.read(), nil)
        #expect(store["name"] == ["$unset": true] && name.source == .store)
        system["name"] = "Ella"
        same(name.value, nil)
        name.value = nil
        same(user["name"], ["$unset": true])
        system["name"] = nil
        name.value = nil  // chosen before
        same(user["name"], ["$unset": true])
        name.reset()
        same(user["name"], nil)
        name.value = nil
        same(user["name"], nil)
        // A value that can't be used may become one that can.
        Preference<Int?>("volume", default: 3, in: store).value = nil
        #expect(user["volume"] == ["$unset": true] && Preference<Int?>("volume", default: 3, in: store).value == 3)
        same(Preference("volume", default: 5, in: store).value, 5)
        same(Preference("volume", default: ["a": false], in: store).value, ["a": false])
    }

    @Test
    func formerNameInAWeakerLayerIsHidden() {
        let (store, user, _) = layered(["title": "Pitt"])
        let name = Preference<String?>("name", .formerly("title"), in: store)
        name.value = nil
        #expect(user.contents == ["name": ["$unset": true]] && name.value == nil)
    }

    @Test
    func valueOverAnUnsetOneHasNoMembersOfOthers() {
        let store = PreferenceStore.inMemory(["size": ["$unset": true], "old": ["width": 1, "future": 2]])
        let size = Preference("size", default: ["width": 5], .formerly("old"), in: store)
        same(size.value, ["width": 5])
        size.value = ["width": 6]
        same(store.contents, ["size": ["width": 6]])
    }

    @Test
    func valueOfThatFormIsRejected() {
        let store = PreferenceStore.inMemory()
        let flags = Preference("flags", default: [String: Bool](), in: store)
        let error = #expect(throws: PreferenceError.self) { try flags.write(["$unset": true]) }
        same(error?.code, .unencodable)
        #expect(throws: Never.self) { try flags.write(["$unset": false, "a": true]) }
    }
}
