import Preferences
import Testing

struct LayersSnippets {
    @Test
    func firstLayerThatHasANameAnswers() throws {
        let output = Output()
        let print = output.print
        // snippet: layering
        let site = PreferenceStore.inMemory(["volume": 3, "theme": "dark"])
        let user = PreferenceStore.inMemory(["volume": 7])
        let store = PreferenceStore.layered([.arguments(["-volume", "9"]), user, site])
        let preferences = GeneralPreferences(in: store)

        print(preferences.volume, preferences.$volume.source)  // 9 arguments
        print(preferences.theme, preferences.$theme.source)  // dark store
        preferences.theme = .light  // goes to `user`, the first that takes writes
        print(preferences.theme, preferences.$theme.source)  // light store
        preferences.$theme.reset()
        print(preferences.theme)  // dark
        // end
        let shown = try Snippet.shownOutput(of: "layering")
        #expect(output.lines == shown)
        #expect(user["theme"] == nil)
    }

    @Test
    func argumentsAndVariablesAreText() throws {
        let output = Output()
        let print = output.print
        // snippet: text layers
        let arguments = PreferenceStore.arguments([
            "-AutomaticallyUpdate", "no", "-window", #"{"x":1,"y":1,"width":1,"height":1}"#,
        ])
        let preferences = GeneralPreferences(in: .layered([arguments, .inMemory()]))
        print(preferences.automaticallyUpdate, preferences.window.width)  // false 1
        // end
        let shown = try Snippet.shownOutput(of: "text layers")
        #expect(output.lines == shown)
    }

    /// Only compiled: `.managed` reads what the machine's administrator wrote, also in a test.
    private func programHasItsLayers() {
        // snippet: layers of a program
        let store = PreferenceStore.layered([.arguments, .environment(prefix: "EXAMPLE"), .standard])
        let preferences = GeneralPreferences(in: store)
        // end
        _ = preferences
    }

    @Test
    func controlsAreDisabled() {
        let preferences = GeneralPreferences(in: .inMemory())
        // snippet: managed
        let isEnabled = !preferences.$volume.isManaged
        // end
        #expect(isEnabled)
    }
}
