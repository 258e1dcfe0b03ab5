import Preferences
import PreferencesKeyring
import TestSupport
import Testing

struct OwnKeyringTests {
    @Test
    func keyringIsInMemoryInTests() {
        let token = Preference<String?>("token", default: nil, in: .keyring)
        token.value = "hunter2"
        same(token.value, "hunter2")
    }
}
