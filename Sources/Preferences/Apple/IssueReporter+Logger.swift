#if canImport(Darwin)
internal import os

/// Writes an issue to the unified log.
func writeToLog(_ error: PreferencesError) {
    Logger(subsystem: "swift-preferences", category: "issues").error("\(error.description, privacy: .public)")
}
#endif
