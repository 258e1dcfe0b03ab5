import Preferences
import TestSupport
import Testing

struct AdoptingSnippets {
    @Test
    func valuesOfOtherLibrariesAreRead() throws {
        let output = Output()
        let print = output.print
        // snippet: adopting
        enum Look: String { case light, dark }

        let store = PreferenceStore.inMemory(["isMuted": "YES", "look": #""dark""#])  // as other libraries stored them
        let isMuted = Preference("isMuted", default: false, in: store)
        let look = Preference("look", default: Look.light, in: store)
        print(isMuted.value, look.value)  // true dark
        // end
        try same(output.lines, Snippet.shownOutput(of: "adopting"))
    }

    @Test
    func oldDataIsRead() {
        let store = PreferenceStore.inMemory(["user.name": "Ada"])
        same(moved(store).value, "Ada")
    }

    private func moved(_ store: PreferenceStore) -> Preference<String> {
        // snippet: adopting-names
        let name = Preference("nickname", default: "nobody", in: store)
        name.migrate(from: Preference("user.name", default: "", in: store))
        // end
        return name
    }
}
