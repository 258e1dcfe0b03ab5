import Preferences
import Synchronization
import Testing

struct OverviewSnippets {
    @Test
    func sixLinesDoWhatTheySay() throws {
        let seen = Mutex<[Int]>([])
        let print: @Sendable (Int) -> Void = { value in seen.withLock { $0.append(value) } }
        try PreferenceStore.withIsolatedStores {
            // snippet: overview
            struct PlayerPreferences: PreferenceGroup {
                @Preference("volume", range: 0...10) var volume = 5
            }
            let player = PlayerPreferences()
            player.volume = 7  // in the file when this returns: a crash doesn't lose it
            try player.$volume.update { $0 += 1 }  // one step, between processes too
            let observation = player.$volume.observe { print($0.new) }  // set here, elsewhere or by hand
            // end
            player.volume = 3
            observation.cancel()
        }
        #expect(seen.withLock { $0 } == [3])
    }
}
