import Preferences
import SwiftUI
import Testing

@testable import PlayerApp

/// The screens of the example app.
@MainActor
struct PlayerAppTests {
    @Test
    func formSetsSharedPreferences() {
        PreferenceStore.withIsolatedStores {
            let host = Host(SettingsForm())
            host.enter(7, into: "Volume 5")
            host.enter(true, into: "Crossfade")
            host.enter(PlayerApp.Theme.dark, into: "Theme")
            host.update()
            #expect(host.shown(in: "Volume 7") == 7)
            #expect(host.bodies == ["SettingsForm": 2])
            #expect(PlaybackPreferences.shared.volume == 7)
            #expect(AppearancePreferences().theme == .dark)
            host.press("Reset")
            host.update()
            #expect(host.shown(in: "Volume 5") == 5)
            #expect(host.shown(in: "Crossfade") == false)
        }
    }

    @Test
    func previewsHaveAStoreOfTheirOwn() {
        PreferenceStore.withIsolatedStores {
            let host = Host(SettingsPreviews.previews)
            #expect(host.shown(in: "Theme") == PlayerApp.Theme.dark)
            host.enter(3, into: "Volume 9")
            host.update()
            #expect(host.shown(in: "Volume 3") == 3)
            #expect(PlaybackPreferences.shared.volume == 5)
            #expect(Host(TrackListPreviews.previews).shown(in: "★★★★") == 4)
        }
    }

    @Test
    func rowsAreEvaluatedThatAChangeConcerns() {
        PreferenceStore.withIsolatedStores(["showsStars": true]) {
            let host = Host(TrackList(tracks: Track.all))
            #expect(host.texts.prefix(2) == ["Track 1", "Artist 1"])
            #expect(host.bodies == ["TrackList": 1, "TrackRow": 100, "Stars": 100])
            PreferenceStore.standard["stars-42"] = 3
            host.update()
            #expect(host.shown(in: "★★★") == 3)
            #expect(host.bodies == ["TrackList": 1, "TrackRow": 101, "Stars": 101])
            AppearancePreferences().showsArtist = false
            host.update()
            #expect(host.texts.prefix(2) == ["Track 1", "Track 2"])
            #expect(host.bodies == ["TrackList": 1, "TrackRow": 201, "Stars": 101])
            host.update(to: TrackList(tracks: Track.all))
            #expect(host.bodies == ["TrackList": 2, "TrackRow": 201, "Stars": 101])
        }
    }
}
