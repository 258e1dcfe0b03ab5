import FileTestSupport
import TestSupport
import Testing

@testable import Preferences

/// Closures of a call that use the store of the call.
struct RunningBodyTests {
    private let store: PreferenceStore
    private let volume: Preference<Int>
    private let issues = Recorder<PreferenceError>()
    private let runs = Counter()

    init() {
        store = .inMemory(["volume": 3])
        store.issueHandler = { [issues] in issues.record($0) }
        volume = Preference("volume", default: 0, in: store)
    }

    /// A task's body holds nothing, so it may change what it has read, until the deadline.
    @Test
    func bodyOfATaskThatAlwaysChangesWhatItHasReadIsAConflict() async throws {
        let database = Database()
        let store = PreferenceStore(backend: LockedBackend(database, timeout: .milliseconds(100)))
        try await persist { try await store.load() }
        let volume = Preference("volume", default: 0, in: store)
        let error = await #expect(throws: PreferenceError.self) {
            try await volume.update { value in
                insist { try volume.write(runs.next()) }
                value = -1
            }
        }
        same(error?.code, .conflict)
        same(volume.value, runs.value)
    }

    @Test
    func ruleThatSetsItsPreference() {
        let box = Lock<Preference<Int>?>(nil)
        let limited = Preference(
            "volume",
            default: 0,
            .check { value in
                box.withLock { $0 }?.value = value - 1
                return true
            },
            in: store
        )
        box.withLock { $0 = limited }
        let error = #expect(throws: PreferenceError.self) { try limited.write(9) }
        #expect(error?.code == .misuse && error?.name == "volume")
        same(store["volume"], 3)
        box.withLock { $0 = nil }
    }

    @Test
    func ruleThatReadsItsPreferenceEnds() {
        let box = Lock<Preference<Int>?>(nil)
        let limited = Preference("volume", default: 0, .check { $0 > box.withLock { $0 }?.value ?? 0 }, in: store)
        box.withLock { $0 = limited }
        _ = limited.value
        same(issues.elements.first?.code, .misuse)
        box.withLock { $0 = nil }
    }

    @Test
    func codingThatSetsItsPreference() {
        struct Odd: Codable, Sendable {
            var number = 1
            func encode(to encoder: any Encoder) throws {
                Odd.box.withLock { $0 }?.value = Odd()
                var container = encoder.singleValueContainer()
                try container.encode(number)
            }
            init() {}
            init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(Int.self) }
            static let box = Lock<Preference<Odd>?>(nil)
        }
        let coded = Preference("volume", default: Odd(), in: store)
        Odd.box.withLock { $0 = coded }
        defer { Odd.box.withLock { $0 = nil } }
        let error = #expect(throws: PreferenceError.self) { try coded.write(Odd()) }
        same(error?.code, .misuse)
        same(store["volume"], 3)
    }
}
