import Foundation
import TestSupport
import Testing

@testable import Preferences
@testable import PreferencesKeyring

/// Values of declared types, read by a program other than the one that stored them.
struct KeyringValueTests {
    private let keyring = MemoryKeyring()

    @Test(arguments: ["text", "", "5", "true", "null", "{\"$data\":\"AA==\"}", "[1]", "\u{0}\n", "cafe\u{301}"])
    func stringComesBack(text: String) throws {
        try expectReturn(of: text)
        same(keyring.texts, ["value": text])
    }

    @Test
    func nativeValuesComeBack() throws {
        for value in [true, false] { try expectReturn(of: value) }
        try expectReturn(of: Int64.min)
        try expectReturn(of: UInt64.max)
        for value in [0.1, -0.0, 2, .infinity, .leastNonzeroMagnitude] { try expectReturn(of: value) }
        try expectReturn(of: Float(0.1))
        for value in [Data(), Data("text".utf8), Data(0...255)] { try expectReturn(of: value) }
        try expectReturn(of: Self.date)
        try expectReturn(of: Self.url)
        try expectReturn(of: UUID())
        try expectReturn(of: [[Self.date], []])
        try expectReturn(of: ["$a": "$null", "$$b": "", "c": "{}"])
        try expectReturn(of: [String?.none, "$null", "$$null", "1"])
        try expectReturn(of: Set([1.5, 2]))
        try expectReturn(of: Optional(5))
    }

    @Test
    func codableValuesComeBack() throws {
        try expectReturn(coded: Shape.circle(radius: 2))
        try expectReturn(coded: [Shape.point])
        let account = Account(
            name: "ada",
            key: Data([0, 255]),
            since: Self.date,
            url: Self.url,
            shape: .point,
            notes: ["$x": nil, "y": "$null"]
        )
        try expectReturn(coded: account)
        try expectReturn(coded: Optional(account))
        let level = Preference<Level>("value", default: .low, in: .testing(keyring))
        try level.write(.high)
        same(Preference<Level>("value", default: .low, in: .testing(keyring)).value, .high)
    }

    private static let date = Date(timeIntervalSinceReferenceDate: 786_000_000.123)
    private static let url = URL(filePath: "/tmp/a b%20c#d?e")

    private enum Level: String { case low, high }

    private enum Shape: Codable, Equatable {
        case circle(radius: Double)
        case point
    }

    private struct Account: Codable, Equatable {
        var name: String
        var key: Data
        var since: Date
        var url: URL
        var shape: Shape
        var notes: [String: String?]
    }

    private func expectReturn<Value: PreferenceValue & Equatable>(of value: Value) throws {
        try Preference<Value?>("value", default: nil, in: .testing(keyring)).write(value)
        same(Preference<Value?>("value", default: nil, in: .testing(keyring)).value, value)
    }

    private func expectReturn<Value: Codable & Equatable & Sendable>(coded value: Value) throws {
        try Preference<Value?>("value", default: nil, in: .testing(keyring)).write(value)
        same(Preference<Value?>("value", default: nil, in: .testing(keyring)).value, value)
    }
}
