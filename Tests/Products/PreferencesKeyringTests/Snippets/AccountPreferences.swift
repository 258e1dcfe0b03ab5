// snippet: secret in a group
import Preferences
import PreferencesKeyring

struct AccountPreferences: PreferenceGroup {
    @Preference("account.name") var name = ""
    @Preference("apiToken", in: .keyring) var token: String?
}
// end
