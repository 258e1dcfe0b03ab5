import TestSupport
import Testing

@testable import Preferences

/// Rules and codings that use the preference whose value they check or convert.
struct ConversionMisuseTests {
    private let store = PreferenceStore.inMemory(["volume": 3])
    private let issues: Recorder<PreferenceError>

    init() { issues = store.recordIssues() }

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
        same(limited.value, 0)
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
