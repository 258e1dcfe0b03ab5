#if canImport(AppIntents)
import AppIntents
import Foundation
import Preferences

/// Sets the volume from Shortcuts and Siri, in the app's process or in that of an extension: both have the app group's store.
struct SetVolumeIntent: AppIntent {
    static let title: LocalizedStringResource = "Set the Volume"

    @Parameter(title: "Volume") var volume: Int

    func perform() async throws -> some IntentResult {
        // Throws what the rule rejects, for the system to show.
        try await PlaybackPreferences.shared.$volume.write(volume)
        return .result()
    }
}
#endif
