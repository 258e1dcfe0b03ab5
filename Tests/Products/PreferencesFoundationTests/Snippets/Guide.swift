import Foundation
import Preferences
import PreferencesFoundation

/// Only compiled: a test must not read the user's own defaults. `ImportTests` shows what it does.
private func importAtEachStart() throws {
    // snippet: importing user defaults
    try PreferenceStore.standard.importUserDefaults(.standard)
    // end
}
