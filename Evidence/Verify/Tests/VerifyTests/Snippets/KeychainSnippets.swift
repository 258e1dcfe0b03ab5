import Preferences
import PreferencesKeyring

// The snippets of the guide *Secrets* about Apple's Keychain; `KeychainTests` has what the options do.

func keychainStores() -> [PreferenceStore] {
    // snippet: keychain options
    let shared = PreferenceStore.keyring(service: "com.example.suite", accessGroup: "TEAM.com.example.suite")
    let synchronized = PreferenceStore.keyring(service: "com.example.player", isSynchronizable: true)
    let foreground = PreferenceStore.keyring(service: "com.example.player", accessibility: .whenUnlocked)
    // end
    return [shared, synchronized, foreground]
}
