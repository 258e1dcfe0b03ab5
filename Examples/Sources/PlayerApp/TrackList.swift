#if canImport(SwiftUI)
import Preferences
import SwiftUI

struct Track: Identifiable, Equatable {
    let id: Int
    let title: String
    let artist: String

    static let all = (1...100).map { Track(id: $0, title: "Track \($0)", artist: "Artist \($0 % 7)") }
}

/// A list whose rows read preferences themselves, so that a change evaluates only the rows that use it.
struct TrackList: View {
    let tracks: [Track]

    var body: some View {
        List {
            ForEach(tracks) { TrackRow($0) }
        }
    }
}

struct TrackRow: View {
    private static let stars = PreferenceOption.range(0...5)

    let track: Track
    @PreferenceState(\AppearancePreferences.$showsArtist) var showsArtist
    @PreferenceState(\AppearancePreferences.$showsStars) var showsStars
    @PreferenceState<Int> var stars: Int

    /// Creates the row of a track; its stars are a preference that is named by the track's number.
    init(_ track: Track) {
        self.track = track
        _stars = PreferenceState(wrappedValue: 0, "stars-\(track.id)", Self.stars)
    }

    var body: some View {
        HStack {
            Text(track.title)
            if showsArtist { Text(track.artist) }
            if showsStars { Stars(count: $stars) }
        }
    }
}

/// A view without preferences: it is evaluated again only if its binding's value changes.
struct Stars: View {
    @Binding var count: Int

    var body: some View {
        Stepper(String(repeating: "★", count: count), value: $count, in: 0...5)
    }
}

struct TrackListPreviews: PreviewProvider {
    static var previews: some View {
        TrackList(tracks: Track.all).preferenceStore(.inMemory(["showsStars": true, "stars-1": 4]))
    }
}
#endif
