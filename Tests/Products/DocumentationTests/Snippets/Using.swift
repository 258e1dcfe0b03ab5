import Preferences
import PreferencesTesting
import TestSupport
import Testing

struct UsingSnippets {
    @Test
    func propertiesAreReadAndWritten() {
        PreferenceStore.withIsolatedStores(["nickname": "Pitt"]) {
            // snippet: reading and writing
            preferences.theme = .dark
            preferences.window.width += 100
            preferences.nickname = nil  // removes
            preferences.$volume.reset()  // as if it had never been set
            // end
            same(PreferenceStore.standard.contents.keys.sorted(), ["theme", "window"])
            same(preferences.window.width, 900)
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
        same(messages.count, 2)
        for message in messages { #expect(shown.contains("// \(message)\n")) }
    }

    @Test(.isolatedStores(["volume": 9]))
    func playerIsWritten() throws {
        // snippet: writing
        player.volume = 3  // every thread reads the new value now
        player.$volume.reset()  // the default is read again
        try player.$volume.update { $0 += 1 }  // atomic, across processes, too
        // end
        same(PreferenceStore.standard.contents, ["volume": 6])
    }

    @Test(.isolatedStores)
    func changesAreDelivered() async throws {
        let (volumes, continuation) = AsyncStream.makeStream(of: Int.self)
        let print: @Sendable (Int) -> Void = { continuation.yield($0) }
        // snippet: following the player
        let task = Task {
            for await volume in player.$volume.updates { print(volume) }  // the current one, then each change
        }
        // end
        var iterator = volumes.makeAsyncIterator()
        await same(iterator.next(), 5)
        player.volume = 6
        await same(iterator.next(), 6)
        task.cancel()
    }
}
