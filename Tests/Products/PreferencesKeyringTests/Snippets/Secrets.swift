import Foundation
import Preferences
import PreferencesKeyring
import PreferencesTesting
import TestSupport
import Testing

// The snippets of the guide *Secrets*; the keyring is in memory here, as in each test process.

struct SecretSnippets {
    // snippet: test of a secret
    @Test(.isolatedStores)
    func signingOutForgetsTheToken() {
        let account = AccountPreferences()
        account.token = "s3cr3t"
        account.$token.reset()
        #expect(account.token == nil)
    }
    // end

    @Test(.isolatedStores)
    func tokenIsInTheKeyringAlone() async throws {
        let account = AccountPreferences()
        // snippet: writing a secret
        do {
            try await account.$token.write("s3cr3t")
        } catch PreferenceError.unavailable {
            // No keyring, or a locked one: nothing is stored. Keep the token for this session, and inform the user.
        }
        // end
        same(account.token, "s3cr3t")
        same(PreferenceStore.keyring.names, ["apiToken"])
        same(PreferenceStore.standard.names, [])
    }

    @Test(.isolatedStores(["apiToken": "s3cr3t"]))
    func tokenMovesFromTheFileToTheKeyring() {
        let account = AccountPreferences()
        // snippet: moving a secret
        account.$token.migrate(from: Preference("apiToken", default: nil, in: .standard))
        // end
        same(account.token, "s3cr3t")
        same(PreferenceStore.standard.names, [])
    }

    @Test(.isolatedStores)
    func environmentAnswersBeforeTheKeyring() {
        // snippet: environment before the keyring
        let secrets = PreferenceStore.layered([.environment(prefix: "PLAYER"), .keyring])
        let token = Preference<String?>("apiToken", default: nil, .secret, in: secrets)  // or PLAYER_APITOKEN
        // end
        token.value = "s3cr3t"
        same(PreferenceStore.keyring["apiToken"], "s3cr3t")
    }

    @Test
    func credentialOfAServiceIsRead() {
        // snippet: credentials of systemd
        let secrets = PreferenceStore.layered([.credentials, .environment(prefix: "PLAYER"), .standard])
        let token = Preference<String?>("apiToken", default: nil, .secret, in: secrets)
        // end
        same(token.value, nil)
    }

    @Test
    func storeOfOnesOwnIsSecret() {
        let vault = Vault()
        // snippet: secret backend
        let store = PreferenceStore(backend: vault, isSecret: true)
        // end
        same(store.contents, [:])
    }
}

/// A backend that keeps secrets elsewhere.
private final class Vault: PreferenceBackend {
    let place = "the vault"
    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] { [] }
    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }
    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
        _ = try body(.none)
    }
}
