import Preferences
import PreferencesTesting
import Testing

struct UsingSnippets {
    @Test(.isolatedStores)
    func playerOfTheFirstScreenIsStored() throws {
        player.volume = 7
        try player.$volume.update { $0 += 1 }
        #expect(PreferenceStore.standard.contents == ["volume": 8])
        #expect(player.artist == nil)
    }

    @Test
    func propertiesAreReadAndWritten() {
        PreferenceStore.withIsolatedStores(["nickname": "Pitt"]) {
            // snippet: reading and writing
            preferences.theme = .dark
            preferences.window.width += 100
            preferences.nickname = nil  // removes
            preferences.$volume.reset()  // as if it had never been set
            // end
            #expect(PreferenceStore.standard.contents.keys.sorted() == ["theme", "window"])
            #expect(preferences.window.width == 900)
        }
    }

    @Test
    func errorsAreThrownToWhoAsks() throws {
        var messages: [String] = []
        func print(_ error: any Error) { messages.append("\(error)") }
        PreferenceStore.withIsolatedStores(["nickname": 5]) {
            // snippet: errors
            do {
                try preferences.$volume.write(11)
            } catch {
                print(error)  // preference "volume": 11 is outside 0...10; nothing was changed
            }
            do {
                let nickname = try preferences.$nickname.read()  // nil: not set
                preferences.nickname = nickname ?? "Pitt"
            } catch {
                print(error)  // preference "nickname": expected String, found integer 5; the stored value is kept
            }
            // end
        }
        let shown = try Snippet.all().first { $0.name == "errors" }?.text ?? ""
        #expect(messages.count == 2)
        for message in messages { #expect(shown.contains("// \(message)\n")) }
    }

    @Test
    func severalStepsAreOne() throws {
        try PreferenceStore.withIsolatedStores {
            // snippet: updating
            try preferences.launches.update { $0 += 1 }

            try PreferenceStore.standard.transaction { transaction in
                transaction[preferences.$theme] = .dark
                transaction[preferences.$volume] += 1
            }
            // end
            #expect(preferences.launches.value == 1)
            #expect(PreferenceStore.standard.contents == ["launches": 1, "theme": "dark", "volume": 6])
        }
    }

    @Test
    func changesAreTold() async throws {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        let print: @Sendable (String) -> Void = { continuation.yield($0) }
        let preferences = GeneralPreferences(in: .inMemory())
        // snippet: reacting
        let observation = preferences.$theme.observe { change in
            print("from \(change.old) to \(change.new)")
        }

        let task = Task {
            for await volume in preferences.$volume.updates {
                print("volume \(volume)")  // the current one, then each change
            }
        }
        // end
        var iterator = lines.makeAsyncIterator()
        #expect(await iterator.next() == "volume 5")
        preferences.volume = 6
        #expect(await iterator.next() == "volume 6")
        task.cancel()
        preferences.theme = .dark
        #expect(await iterator.next() == "from system to dark")
        observation.cancel()
    }
}
