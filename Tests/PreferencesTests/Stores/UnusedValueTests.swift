import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// A layer's value that isn't used, because it can't be or counts as absent, hides no change below it.
struct UnusedValueTests {
    /// A stronger layer with a value under "v" that isn't used.
    struct Top: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let store: @Sendable () -> PreferenceStore

        static let all: [Top] = [
            Top(testDescription: "absent text") { .environment(["APP_V": "null"], prefix: "APP") },
            Top(testDescription: "absent value") { PreferenceStore.inMemory(["v": "null"]).readOnly() },
            Top(testDescription: "unusable text") { .environment(["APP_V": "junk"], prefix: "APP") },
            Top(testDescription: "unusable value") { PreferenceStore.inMemory(["v": true]).readOnly() },
        ]
    }

    private static let coding = PreferenceCoding<Int>("null-or-number") {
        .integer(Int64($0))
    } decode: { stored in
        if stored == "null" { return nil }
        return try Int(storedValue: stored)
    }

    private static func preference(over top: Top, _ issues: Recorder<PreferenceError>) -> Preference<Int> {
        let store = PreferenceStore.layered([top.store(), .inMemory()])
        store.issueHandler = { issues.record($0) }
        return Preference("v", default: 5, coding: coding, in: store)
    }

    private static let reads: [@Sendable (Preference<Int>) -> Void] = [
        { _ = $0.value }, { do { _ = try $0.read() } catch {} },
    ]

    /// On the main actor, which otherwise might be sending the signal of the first write again, and then send that of the second one, too.
    @Test(arguments: Top.all, reads.indices)
    @MainActor
    func changeBelowNotifiesReaders(top: Top, read: Int) throws {
        let preference = Self.preference(over: top, Recorder())
        for value in 8...9 {
            let signals = countSignals { Self.reads[read](preference) }
            try preference.write(value)
            same(signals.value, 1)
            #expect(preference.value == value && preference.storedValue == .integer(Int64(value)))
        }
    }

    /// Whether or not the preference was read before.
    @Test(arguments: Top.all, [false, true])
    func setIsNotHidden(top: Top, isRead: Bool) async throws {
        let sets: [(Preference<Int>) async throws -> Void] = [
            { (preference) in
                let write: (Int) throws(PreferenceError) -> Void = preference.write
                try write(7)
            }, { try await $0.write(7) }, { $0.value = 7 }, { preference in try await preference.update { $0 = 7 } },
            { preference in try await preference.store.transaction { $0[preference] = 7 } },
        ]
        for set in sets {
            let issues = Recorder<PreferenceError>()
            let preference = Self.preference(over: top, issues)
            if isRead { _ = preference.value }
            try await set(preference)
            same(preference.value, 7)
            #expect(!issues.elements.contains { $0.code == .hidden }, "\(issues.elements)")
        }
    }

    /// A usable value between an unusable one and the writable layer hides the set.
    @Test
    func setBelowAUsableValueIsHiddenByThat() throws {
        let issues = Recorder<PreferenceError>()
        let store = PreferenceStore.layered([
            .arguments(["--v=junk"]), .environment(["APP_V": "3"], prefix: "APP"), .inMemory(),
        ])
        store.issueHandler = { issues.record($0) }
        let preference = Preference("v", default: 5, in: store)
        try preference.write(7)
        same(preference.value, 3)
        let hidden = issues.elements.filter { $0.code == .hidden }
        #expect(hidden.count == 1 && hidden.first?.message.contains("\"environment\"") == true, "\(hidden)")
    }
}
