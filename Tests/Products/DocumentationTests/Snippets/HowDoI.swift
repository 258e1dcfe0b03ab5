// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Preferences
import PreferencesTesting
import TestSupport
import Testing

// The answers of the page *How do I …*; each test does what its answer shows, and looks at the result.

struct HowToGroup {
    // snippet: how namespace
    enum Prefs {
        static let general = GeneralPreferences()
        static let player = PlayerPreferences()
    }
    // end

    @Test(.isolatedStores)
    func groupsAreUsedByTheirNamespace() {
        Prefs.general.theme = .dark
        Prefs.player.volume = 7
        same(PreferenceStore.standard.contents, ["theme": "dark", "volume": 7])
    }
}

// snippet: how enum collection
enum Panel: String, PreferenceValue { case tree, search }

struct PanelPreferences: PreferenceGroup {
    @Preference("panels") var panels: [Panel] = [.tree]
}
// end

// snippet: how public
public enum Compression: String, Sendable { case none, fast, small }

public struct LibraryPreferences: PreferenceGroup {
    @Preference("compression") public var compression = Compression.fast
    public init() {}
}
// end

struct HowToDeclare {
    @Test(.isolatedStores)
    func rulesRejectValues() {
        // snippet: how rule
        let volume = Preference("volume", default: 5, .range(0...10))
        let language = Preference("language", default: "en", .choices(["en", "de", "pl"]))
        let nickname = Preference<String?>("nickname", .length(1...20))
        let port = Preference("port", default: 8080, .check { $0 != 80 })
        // end
        #expect(throws: PreferenceError.self) { try volume.write(11) }
        #expect(throws: PreferenceError.self) { try language.write("fr") }
        #expect(throws: PreferenceError.self) { try nickname.write("") }
        #expect(throws: PreferenceError.self) { try port.write(80) }
        #expect(PreferenceStore.standard.names.isEmpty)
    }

    @Test(.isolatedStores)
    func collectionsAndPublicGroupsAreStored() {
        PanelPreferences().panels.append(.search)
        LibraryPreferences().compression = .small
        same(PreferenceStore.standard.contents, ["panels": ["tree", "search"], "compression": "small"])
    }

    @Test
    func groupsAreListed() {
        let output = Output()
        let print = output.print
        let preferences = GeneralPreferences(in: .inMemory(["volume": 3]))
        // snippet: how list
        for preference in preferences.preferences where preference.isSet {
            print("\(preference): \(preference.rules)")  // volume = 3 (store): [0...10]
        }
        // end
        same(output.lines, ["volume = 3 (store): [0...10]"])
    }

    @Test(.isolatedStores)
    func dynamicNamesAreDeclaredWhereTheyAreUsed() {
        let document = "notes.txt"
        // snippet: how dynamic
        let zoom = Preference("zoom.\(document)", default: 1.0)
        zoom.value = 1.5
        // end
        same(PreferenceStore.standard.contents, ["zoom.notes.txt": 1.5])
    }
}

struct HowToReadAndWrite {
    let preferences = GeneralPreferences()

    @Test(.isolatedStores)
    func absenceIsDistinguishedFromTheDefault() {
        let output = Output()
        let print = output.print
        // snippet: how source
        print(preferences.$volume.isSet, preferences.$volume.source)  // false default
        preferences.volume = 5
        print(preferences.$volume.isSet, preferences.$volume.source)  // true store
        // end
        same(output.lines, ["false default", "true store"])
    }

    @Test
    func tasksReadOnAnyThread() async {
        let preferences = GeneralPreferences(in: .inMemory(["launches": 41]))
        // snippet: how background
        let count = await Task.detached { preferences.launches.value }.value
        // end
        same(count, 41)
    }

    @Test(.isolatedStores)
    func updatesReturnResults() throws {
        let output = Output()
        let print = output.print
        // snippet: how update
        let launch = try preferences.launches.update { launches in
            launches += 1
            return launches
        }
        print("launch \(launch)")
        // end
        same(output.lines, ["launch 1"])
    }

    @Test(.isolatedStores)
    func tasksAwaitUpdates() async throws {
        // snippet: how asynchronous
        func countLaunch() async throws {
            try await preferences.launches.update { $0 += 1 }
        }
        // end
        try await countLaunch()
        same(preferences.launches.value, 1)
    }

    @Test(.isolatedStores)
    func transactionsChangeAllOrNothing() throws {
        // snippet: how transaction
        try PreferenceStore.standard.transaction { transaction in
            transaction[preferences.$theme] = .dark
            transaction[preferences.$volume] += 1
        }
        // end
        same(PreferenceStore.standard.contents, ["theme": "dark", "volume": 6])
    }

    @Test(.isolatedStores)
    func flushReturnsWhenValuesAreDurable() async throws {
        // snippet: how flush
        preferences.theme = .dark
        try await PreferenceStore.standard.flush()
        // end
        same(PreferenceStore.standard.names, ["theme"])
    }

    @Test(.isolatedStores)
    func membersArePreferences() {
        // snippet: how member
        let width = preferences.$window[\.width]
        width.value = 1024  // the other members keep their values, even if another process sets them now
        // end
        same(preferences.window.width, 1024)
    }

    @Test(.isolatedStores)
    func namesAreUsedWithoutADeclaration() {
        // snippet: how untyped
        let store = PreferenceStore.standard
        store["volume"] = 7
        for (name, value) in store.contents { print(name, value) }
        // end
        same(store.contents, ["volume": 7])
    }

    @Test(.isolatedStores(["volume": "loud"]))
    func issuesGoToTheHandler() {
        let output = Output()
        let log: @Sendable (String) -> Void = { output.print($0) }
        // snippet: how issues
        PreferenceStore.standard.issueHandler = { error in
            log("\(error)")  // what plain properties can't throw
        }
        // end
        same(preferences.volume, 5)
        same(output.lines.count, 1)
    }

    @Test(.isolatedStores)
    func errorsAreCaughtByTheirCodes() {
        let output = Output()
        let print = output.print
        // snippet: how catch
        do {
            try preferences.$volume.write(11)
        } catch PreferenceError.invalid {
            print("The volume is from 0 to 10.")
        } catch {
            print(error)
        }
        // end
        same(output.lines, ["The volume is from 0 to 10."])
    }

    @Test(.isolatedStores)
    func typedErrorsAreCaughtByTheirCodesAlone() throws {
        let output = Output()
        let print = output.print
        // snippet: how catch typed
        func setVolume(_ volume: Int) throws(PreferenceError) {
            do throws(PreferenceError) {
                try preferences.$volume.write(volume)
            } catch .invalid {
                print("The volume is from 0 to 10.")
            }
        }
        // end
        try setVolume(11)
        same(output.lines, ["The volume is from 0 to 10."])
        try setVolume(7)
        same(preferences.volume, 7)
    }
}

struct HowToObserve {
    @Test(.isolatedStores)
    func changesAreObserved() {
        let preferences = GeneralPreferences()
        let output = Output()
        let print = output.print
        // snippet: how observe
        let observation = preferences.$theme.observe { change in
            print("from \(change.old) to \(change.new)")  // from system to dark
        }
        preferences.theme = .dark
        // end
        same(output.lines, ["from system to dark"])
        observation.cancel()
    }

    @Test(.isolatedStores)
    func timingsAreChosen() {
        let preferences = GeneralPreferences()
        let output = Output()
        let print = output.print
        // snippet: how timing
        let before = preferences.$theme.observe(at: .willSet) { change in
            print("\(preferences.theme) becomes \(change.new)")
        }
        let after = preferences.$theme.observe { change in
            print("\(preferences.theme) was \(change.old)")
        }
        preferences.theme = .dark
        // system becomes dark
        // dark was system
        // end
        same(output.lines, ["system becomes dark", "dark was system"])
        before.cancel()
        after.cancel()
    }

    @Test(.isolatedStores)
    func sequencesFollowOnePreference() async {
        let preferences = GeneralPreferences()
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        let show: @Sendable (Int) -> Void = { continuation.yield("\($0)") }
        // snippet: how sequence
        let task = Task {
            for await volume in preferences.$volume.updates {
                show(volume)  // the current value, then each change; ends when the task is cancelled
            }
        }
        // end
        var iterator = lines.makeAsyncIterator()
        await same(iterator.next(), "5")
        preferences.volume = 6
        await same(iterator.next(), "6")
        task.cancel()
    }

    @Test(.isolatedStores)
    func observersSeeTheOrigin() {
        let preferences = GeneralPreferences()
        let output = Output()
        let print = output.print
        // snippet: how origin
        let observation = preferences.$theme.observe { change in
            if change.origin == .external { print("changed by another process") }
        }
        // end
        preferences.theme = .dark
        #expect(output.lines.isEmpty)
        observation.cancel()
    }
}

struct HowToTest {
    // snippet: how test
    @Test(.isolatedStores(["launches": 41]))
    func launchIsCounted() throws {
        try GeneralPreferences().launches.update { $0 += 1 }
        #expect(GeneralPreferences().launches.value == 42)
    }
    // end

    // snippet: how inject
    struct Player {
        let preferences: GeneralPreferences
        init(store: PreferenceStore = .standard) { preferences = GeneralPreferences(in: store) }
    }

    @Test
    func playerStartsWithTheStoredVolume() {
        #expect(Player(store: .inMemory(["volume": 7])).preferences.volume == 7)
    }
    // end

    @Test(.isolatedStores)
    func invalidValuesAreRejected() {
        let preferences = GeneralPreferences()
        // snippet: how invalid
        let error = #expect(throws: PreferenceError.self) { try preferences.$volume.write(11) }
        #expect(error?.code == .invalid)
        // end
    }

    // snippet: how fault
    @Test
    func failedSetIsReported() throws {
        let backend = FaultInjectingBackend()
        let preferences = GeneralPreferences(in: PreferenceStore(backend: backend))
        backend.failNext(.apply)
        #expect(throws: PreferenceError.self) { try preferences.$volume.write(7) }
    }
    // end

    @Test
    func externalChangesAreInjected() throws {
        // snippet: how external
        let backend = FaultInjectingBackend(["volume": 3])
        let preferences = GeneralPreferences(in: PreferenceStore(backend: backend))
        backend.changeOutside(["volume": 4])  // as another process would
        #expect(preferences.volume == 4)
        // end
    }
}
