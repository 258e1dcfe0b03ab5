import Foundation
import PreferencesTesting
import TestSupport
import Testing

@testable import DurableFile
@testable import Preferences
@testable import PreferencesKeyring

/// The contract of every backend, as far as a keyring can keep it.
struct KeyringContractTests {
    /// Passes only strings to a keyring, as it doesn't keep the types of values.
    private struct TextBackend: PreferenceBackend {
        let base: KeyringBackend
        let listsAllNames = false

        func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
            let textHost = PreferenceBackendHost(
                changed: { changes in
                    do throws(PreferenceError) { host.collect(try values(changes)) } catch { host.report(error) }
                },
                report: host.report,
                deadline: host.deadline
            )
            return try values(try base.load(host: textHost).mapValues(Optional.some)).compactMapValues(\.self)
        }

        func catchUp() throws(PreferenceError) { try base.catchUp() }

        func apply(
            _ changes: [String: PropertyListValue?],
            if condition: PreferenceCondition
        ) throws(PreferenceError) -> PreferenceBackendCommit {
            var condition = condition
            condition.values = try texts(condition.values)
            return try base.apply(try texts(changes), if: condition)
        }

        private func texts(
            _ values: [String: PropertyListValue?]
        ) throws(PreferenceError) -> [String: PropertyListValue?] {
            var texts: [String: PropertyListValue?] = [:]
            for (name, value) in values {
                let text = try value.map { value throws(PreferenceError) in try value.json() }
                texts.updateValue(text.map { .string($0) }, forKey: name)
            }
            return texts
        }

        private func values(
            _ texts: [String: PropertyListValue?]
        ) throws(PreferenceError) -> [String: PropertyListValue?] {
            var values: [String: PropertyListValue?] = [:]
            for (name, text) in texts {
                if case .string(let text) = text {
                    values[name] = try PropertyListValue(json: text)
                } else {
                    values.updateValue(nil, forKey: name)
                }
            }
            return values
        }
    }

    /// Rules that fail because programs can't change a keyring atomically, and it doesn't notify.
    private static let impossible: Set = [
        "A set of changes is read whole or not at all", "Of racing changes with one condition, one is stored",
        "host.changed is called after an external change",
    ]

    @Test
    func backendKeepsTheContractAsFarAsAKeyringCan() async throws {
        let error = await #expect(throws: PreferenceBackendContractError.self) {
            try await PreferenceBackendContract.verify(patience: .milliseconds(20)) {
                let keyring = MemoryKeyring()
                return PreferenceBackendPlace(failNextWrite: { keyring.fail(call: 1, .before) }) {
                    TextBackend(base: KeyringBackend(keyring, timer: WorkerQueue(isManual: true)))
                }
            }
        }
        for violation in error?.violations ?? [] {
            #expect(Self.impossible.contains(violation.rule), "\(violation.rule): \(violation.finding)")
        }
    }
}
