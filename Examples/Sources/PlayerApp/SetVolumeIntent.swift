#if canImport(AppIntents)
import AppIntents
import Foundation
import Preferences

/// An intent to set the volume from Shortcuts and Siri, in the process of the app or of an extension: both use the app group's store.
struct SetVolumeIntent: AppIntent {
    static let title: LocalizedStringResource = "Set the Volume"

    @Parameter(title: "Volume") var volume: Int

    func perform() async throws -> some IntentResult {
        // Throws if the rule rejects the value; the system shows the error.
        try await PlaybackPreferences.shared.$volume.write(volume)
        return .result()
    }
}
#endif
