import Preferences
import PreferencesTesting
import TestSupport
import Testing

struct LayersSnippets {
    @Test
    func firstLayerThatHasANameAnswers() throws {
        let output = Output()
        let print = output.print
        // snippet: layering
        enum Theme: String { case light, dark }
        struct PlayerPreferences: PreferenceGroup {
            @Preference("volume") var volume = 5
            @Preference("theme") var theme = Theme.light
        }

        let site = PreferenceStore.inMemory(["volume": 3, "theme": "dark"])
        let user = PreferenceStore.inMemory(["volume": 7])
        let store = PreferenceStore.layered([.arguments(["-volume", "9"]), user, site])
        let preferences = PlayerPreferences(in: store)

        print(preferences.volume, preferences.$volume.source)  // 9 arguments
        print(preferences.theme, preferences.$theme.source)  // dark store
        preferences.theme = .light  // goes to `user`, the first that accepts writes
        print(preferences.theme, preferences.$theme.source)  // light store
        preferences.$theme.reset()
        print(preferences.theme)  // dark
        // end
        let shown = try Snippet.shownOutput(of: "layering")
        same(output.lines, shown)
        same(user["theme"], nil)
    }

    @Test
    func argumentsAndVariablesAreText() throws {
        let output = Output()
        let print = output.print
        // snippet: text layers
        let arguments = PreferenceStore.arguments([
            "-AutomaticallyUpdate", "no", #"--window={"x":1,"y":1,"width":1,"height":1}"#,
        ])
        let preferences = GeneralPreferences(in: .layered([arguments, .inMemory()]))
        print(preferences.automaticallyUpdate, preferences.window.width)  // false 1
        // end
        let shown = try Snippet.shownOutput(of: "text layers")
        same(output.lines, shown)
    }

    @Test
    func misspeltNamesAreReported() {
        let output = Output()
        let print = output.print
        // snippet: unknown names
        let store = PreferenceStore.layered([.arguments(["--volum=3"]), .inMemory()])
        for problem in GeneralPreferences(in: store).problems { print(problem) }
        // no preference is named "volum"; its value in the layer "arguments" is ignored; did you mean "volume"?
        // end
        same(
            output.lines,
            [
                #"no preference is named "volum"; its value in the layer "arguments" is ignored; did you mean "volume"?"#
            ]
        )
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

    @Test
    func backendIsALayer() throws {
        let output = Output()
        let print = output.print
        let backend = FaultInjectingBackend(["volume": 3])
        // snippet: backend as a layer
        let remote = PreferenceStore(backend: backend, name: "remote", isReadOnly: true)
        let store = PreferenceStore.layered([remote, .inMemory()])
        let volume = Preference("volume", default: 5, in: store)
        print(volume, volume.isManaged)  // volume = 3 (remote) false
        // end
        try same(output.lines, Snippet.shownOutput(of: "backend as a layer"))
    }

    @Test
    func scopeIsALayer() throws {
        let output = Output()
        let print = output.print
        // snippet: scope as a layer
        let store = PreferenceStore.inMemory(["theme": "dark"])
        let account = GeneralPreferences(in: .layered([store.scoped(prefix: "account.42."), store]))
        account.volume = 3
        print(account.theme, store.names)  // dark ["account.42.volume", "theme"]
        // end
        try same(output.lines, Snippet.shownOutput(of: "scope as a layer"))
    }

    @Test
    func generatedFileIsALayer() throws {
        let output = Output()
        let print = output.print
        let settings = PreferenceStore(backend: GeneratedBackend())
        let changes = PreferenceStore.inMemory()
        // snippet: generated
        let store: PreferenceStore =
            settings.isWritable
            ? .layered([settings, changes.readOnly(named: "earlier changes")])
            : .layered([changes, settings.readOnly(named: "generated")])
        let preferences = GeneralPreferences(in: store)
        preferences.volume = 7
        print(preferences.volume, preferences.$volume.source)  // 7 store
        print(preferences.theme, preferences.$theme.source)  // dark generated
        // end
        try same(output.lines, Snippet.shownOutput(of: "generated"))
        #expect(changes.contents == ["volume": 7] && store.isWritable)
    }

    @Test
    func hostsAndGroupsAreLayers() throws {
        let output = Output()
        let print = output.print
        // snippet: overrides
        let fleet = PreferenceStore.inMemory(["volume": 5, "group.eu.volume": 6, "host.web-3.theme": "dark"])
        let store = PreferenceStore.layered([
            fleet.scoped(prefix: "host.web-3.").readOnly(named: "host"),
            fleet.scoped(prefix: "group.eu.").readOnly(named: "group"),
            fleet,
        ])
        let preferences = GeneralPreferences(in: store)
        print(preferences.theme, preferences.$theme.source)  // dark host
        print(preferences.volume, preferences.$volume.source)  // 6 group
        preferences.nickname = "Pitt"  // goes to the fleet
        print(preferences.$nickname.source)  // store
        // end
        try same(output.lines, Snippet.shownOutput(of: "overrides"))
        same(fleet["nickname"], "Pitt")
    }

    // snippet: settings of a command line
    struct Settings: PreferenceGroup {
        @Preference("verbose") var verbose = false
        @Preference("colors") var colors = true
        @Preference("tags") var tags: [String] = []
        @Preference("limits") var limits: [String: Int] = [:]
    }
    // end

    @Test
    func optionsAreReadByType() throws {
        let output = Output()
        let print = output.print
        // snippet: options by type
        let settings = Settings(
            in: .arguments([
                "--colors=no", "--tags", #"["work","home"]"#, #"--limits={"days":7}"#, "--verbose", "file.txt",
            ])
        )
        print(settings.verbose, settings.colors)  // true false
        print(settings.tags, settings.limits)  // ["work", "home"] ["days": 7]
        // end
        try same(output.lines, Snippet.shownOutput(of: "options by type"))
    }
}

/// A file that the user can't write, which for root hardly exists.
private final class GeneratedBackend: PreferenceBackend {
    let place = "the generated file"
    let isWritable = false

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        [StoredChange("volume", 3), StoredChange("theme", "dark")]
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        throw PreferenceError(.readOnly, "the file is generated")
    }
}
