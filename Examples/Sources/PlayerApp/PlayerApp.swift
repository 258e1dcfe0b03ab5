#if canImport(Darwin)
import SwiftUI

@main
struct PlayerApp: App {
    var body: some Scene {
        WindowGroup {
            TrackList(tracks: Track.all)
        }
        #if os(macOS)
        Settings {
            SettingsForm()
        }
        #endif
    }
}
#endif
