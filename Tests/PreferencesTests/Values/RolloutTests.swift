import Preferences
import TestSupport
import Testing

@testable import PreferencesEtcd

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct RolloutTests {
    private struct Fleet: PreferenceGroup {
        @Preference("newCheckout") var newCheckout = Rollout(percent: 0)
    }

    /// The buckets were computed by a program in another language that was written from the documentation.
    @Test(arguments: [
        ("", "", 102_267), ("", "1", 966_018), ("", "user-42", 277_103), ("newCheckout", "user-42", 799_849),
        ("newCheckout", "123e4567-e89b-12d3-a456-426614174000", 934_090), ("größe", "Ünïcödé 😀", 64_168),
    ])
    func bucketIsThatOfTheDocumentedHash(seed: String, user: String, bucket: UInt64) {
        let percent = Double(bucket) / 10_000
        same(Rollout(percent: 0, seed: seed).bucket(of: user), bucket)
        #expect(!Rollout(percent: percent, seed: seed).includes(user))
        #expect(Rollout(percent: percent + 0.0001, seed: seed).includes(user))
    }

    private static let users = (0..<50_000).map { "\($0)" }
    /// Identifiers of pseudo-random bytes, the same in each run.
    private static let identifiers = {
        var state: UInt64 = 1
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 32)
        }
        return (0..<50_000).map { _ in String(next(), radix: 16) + "-" + String(next(), radix: 16) }
    }()

    /// Returns the sum of (found − expected)² / expected, which exceeds 148.2 with a probability of 0.1 % for 99 degrees of freedom.
    private static func chiSquare(_ counts: [Int], of total: Int) -> Double {
        let expected = Double(total) / Double(counts.count)
        return counts.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
    }

    @Test(arguments: [users, identifiers], ["", "a", "newCheckout"])
    func usersSpreadEvenly(users: [String], seed: String) {
        var counts = Array(repeating: 0, count: 100)
        let rollout = Rollout(percent: 0, seed: seed)
        for user in users { counts[Int(rollout.bucket(of: user) / 10_000)] += 1 }
        #expect(Self.chiSquare(counts, of: users.count) < 148.2)
    }

    @Test(arguments: [users, identifiers], [("a", "b"), ("newCheckout", "newSearch"), ("", "x")])
    func rolloutsWithDifferentSeedsSelectIndependently(users: [String], seeds: (String, String)) {
        let (first, second) = (Rollout(percent: 0, seed: seeds.0), Rollout(percent: 0, seed: seeds.1))
        var counts = Array(repeating: 0, count: 100)
        for user in users {
            let (row, column) = (first.bucket(of: user) / 100_000, second.bucket(of: user) / 100_000)
            counts[Int(row * 10 + column)] += 1
        }
        #expect(Self.chiSquare(counts, of: users.count) < 148.2)
    }

    @Test
    func higherPercentageDropsNoUser() {
        var included: Set<String> = []
        for percent in [0, 0.01, 0.5, 1, 3.3, 10, 25, 49.99, 50, 75, 99.99, 100] {
            let rollout = Rollout(percent: percent, seed: "newCheckout")
            let now = Set(Self.users.filter(rollout.includes))
            #expect(included.isSubset(of: now))
            let expected = Double(Self.users.count) * percent / 100
            // Five standard deviations of a binomial distribution.
            #expect(abs(Double(now.count) - expected) <= 5 * (expected * (1 - percent / 100)).squareRoot())
            included = now
        }
        same(included.count, Self.users.count)
    }

    @Test
    func storedFormIsADictionary() throws {
        let store = PreferenceStore.inMemory()
        let fleet = Fleet(in: store)
        fleet.newCheckout = Rollout(percent: 12.5, seed: "s")
        same(store["newCheckout"], ["percent": 12.5, "seed": "s"])
        fleet.$newCheckout[\.percent].value = 25
        same(store["newCheckout"], ["percent": 25.0, "seed": "s"])
        fleet.$newCheckout[\.seed].value = ""
        same(store["newCheckout"], ["percent": 25.0])
        store["newCheckout"] = ["percent": 30]
        same(fleet.newCheckout, Rollout(percent: 30))
    }

    @Test(
        arguments: [
            (25, "expected Rollout, such as"), ("25", "expected Rollout, such as"), ([:], "expected Rollout, such as"),
            (["seed": "s"], "expected Rollout, such as"), (["percent": 25, "Seed": "s"], "expected Rollout, such as"),
            (["percent": 101], "from 0 to 100"), (["percent": -1], "from 0 to 100"),
            (["percent": "25"], "expected Double"),
            (["percent": 25, "seed": 1], "expected String"), (["percent": .real(.nan)], "from 0 to 100"),
        ] as [(PropertyListValue, String)]
    )
    func otherStoredFormsAreUnreadable(stored: PropertyListValue, message: String) {
        let store = PreferenceStore.inMemory(["newCheckout": stored])
        let fleet = Fleet(in: store)
        let error = #expect(throws: PreferenceError.self) { try fleet.$newCheckout.read() }
        same(error?.code, .unreadable)
        same(error.map { "\($0)".contains(message) }, true, "\(String(describing: error))")
        store.issueHandler = { _ in }
        #expect(!fleet.newCheckout.includes("1"))
    }

    @Test(arguments: [-0.0001, 100.0001, Double.nan, .infinity])
    func percentageOutOfRangeIsRejected(percent: Double) {
        let fleet = Fleet(in: .inMemory(["newCheckout": ["percent": 1]]))
        let error = #expect(throws: PreferenceError.self) { try fleet.$newCheckout.write(Rollout(percent: percent)) }
        same(error?.code, .invalid)
        let member = #expect(throws: PreferenceError.self) { try fleet.$newCheckout[\.percent].write(percent) }
        same(member?.code, .invalid)
        same(fleet.newCheckout.percent, 1)
    }

    @Test
    func codableFormIsTheStoredOne() throws {
        try roundTripBoth(Rollout(percent: 12.5, seed: "ß"))
        let data = try JSONEncoder().encode(Rollout(percent: 25, seed: "s"))
        try same(JSONDecoder().decode([String: PropertyListValue].self, from: data)["seed"], "s")
        try same(JSONDecoder().decode(Rollout.self, from: data), Rollout(percent: 25, seed: "s"))
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(Rollout.self, from: Data(#"{"percent":101}"#.utf8))
        }
    }
}
