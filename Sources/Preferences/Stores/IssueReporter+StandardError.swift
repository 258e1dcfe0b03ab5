#if !canImport(Darwin)
internal import DurableFile

/// Writes an issue to standard error, as one line.
func writeToLog(_ error: PreferencesError) {
    StandardError.write("preferences: \(error)\n")
}
#endif
