import PreferencesTesting
import Testing

@testable import Preferences
@testable import PreferencesKeyring

/// The contract of every backend, as far as a keyring can keep it.
struct KeyringContractTests {
    /// Passes only strings to a keyring, as it doesn't keep the types of values.
    private final class TextBackend: PreferenceBackend {
        private let base: KeyringBackend
        var place: String { base.place }

        init(_ base: KeyringBackend) { self.base = base }

        func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) throws -> [StoredChange] {
            try base.load(host: host, until: deadline).map(value)
        }

        func catchUp(until deadline: PreferenceDeadline) throws -> ExternalChanges {
            try values(try base.catchUp(until: deadline))
        }

        func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
            try base.change(until: deadline) { update in
                try body(try values(update)).map { StoredChange($0.name, try $0.value.map { .string(try $0.json()) }) }
            }
        }

        private func values(_ update: ExternalChanges) throws -> ExternalChanges {
            guard case .changes(let all) = update else { return update }
            return .changes(try all.map { try $0.map(value) })
        }

        private func value(_ change: StoredChange) throws -> StoredChange {
            guard case .string(let text)? = change.value else { return change }
            return StoredChange(change.name, try PropertyListValue(json: text))
        }
    }

    /// Rules that fail because programs can't change a keyring atomically, and it doesn't notify.
    private static let impossible: Set = [
        "Changes are read together or not at all", "No change of racing instances is based on outdated values",
        "A change in a body of another instance ends at its deadline and isn't overwritten",
        "host.changed is called after an external change",
    ]

    @Test
    func backendKeepsTheContractAsFarAsAKeyringCan() async throws {
        let error = await #expect(throws: PreferenceBackendContractError.self) {
            try await PreferenceBackendContract.verify(patience: .milliseconds(20)) {
                let keyring = MemoryKeyring()
                return PreferenceBackendPlace(failNextWrite: { keyring.fail(call: 1, .before) }) {
                    TextBackend(KeyringBackend(keyring) { _, _ in })
                }
            }
        }
        for violation in error?.violations ?? [] {
            #expect(Self.impossible.contains(violation.rule), "\(violation.rule): \(violation.finding)")
        }
    }
}
