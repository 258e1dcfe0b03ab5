import FoundationEssentials
import Preferences
import Testing

struct AdoptingSnippets {
    private struct Profile: Codable, Equatable, Sendable { var name = "Pitt" }
    private enum Look: String, Codable, Sendable { case light, dark }

    @Test
    func oldDataIsRead() throws {
        let store = PreferenceStore.inMemory([
            "user.name": "Ada", "profile": .data(Data(#"{"name":"Ada"}"#.utf8)), "recent": [#"{"name":"Ada"}"#],
            "look": "\"dark\"", "night": "night",
        ])
        let json = try adoptedJSON(store)
        #expect(json == Profile(name: "Ada"))
        let texts = adoptedTexts(store)
        #expect(texts.0.value == .dark)
        #expect(texts.1.value == [Profile(name: "Ada")])
        #expect(renamed(store).value == .dark)
        #expect(moved(store).value == "Ada")
    }

    private func adoptedJSON(_ store: PreferenceStore) throws -> Profile? {
        // snippet: adopting-json
        let profile = Preference<Profile?>("profile", in: store, coding: .json)
        // end
        return try profile.read()
    }

    private func adoptedTexts(_ store: PreferenceStore) -> (Preference<Look>, Preference<[Profile]>) {
        // snippet: adopting-texts
        let look = Preference("look", default: Look.light, in: store)
        let recent = Preference("recent", default: [Profile](), in: store)
        // end
        return (look, recent)
    }

    private func renamed(_ store: PreferenceStore) -> Preference<Look> {
        // snippet: adopting-aliases
        let look = Preference("night", default: Look.light, in: store, coding: .rawValue(aliases: ["night": .dark]))
        // end
        return look
    }

    private func moved(_ store: PreferenceStore) -> Preference<String> {
        // snippet: adopting-names
        let name = Preference("nickname", default: "nobody", in: store)
        name.migrate(from: Preference("user.name", default: "", in: store))
        // end
        return name
    }
}
