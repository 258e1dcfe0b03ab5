import Foundation
import Preferences

/// The kinds of values that are measured.
enum Kind: String, CaseIterable {
    case boolean = "Bool"
    case integer = "Int"
    case text = "String, 32 B"
    case data = "Data, 1 KB"
    case record = "Codable struct"
}

/// A value that all peers can hold; a record is JSON in data.
enum Stored: Equatable {
    case boolean(Bool)
    case integer(Int)
    case text(String)
    case data(Data)
}

/// A typical value of a program, with `Codable` as its only conformance.
struct Profile: Codable, Equatable {
    var title = "untitled"
    /// A number that changes.
    var width = 800
    var height = 600
    var scale = 1.5
    var tags = ["red", "green"]
}

/// The contents of a store that is measured: names of some kinds in turn.
struct Samples {
    let count: Int
    var kinds = Kind.allCases

    /// The number from which on values differ from all initial ones.
    static let fresh = 100_001

    /// A name under which nothing is stored.
    static let unset = "section-setting-unset"

    /// Returns the names of one kind, at most `most`.
    func names(_ kind: Kind, most: Int = .max) -> [String] {
        let first = kinds.firstIndex(of: kind) ?? count
        return stride(from: first, to: count, by: kinds.count).prefix(most).map(Self.name)
    }

    /// All peers accept lower case, digits and dashes.
    static func name(_ number: Int) -> String {
        let digits = String(number)
        return "section-setting-" + String(repeating: "0", count: 5 - digits.count) + digits
    }

    func kind(_ number: Int) -> Kind { kinds[number % kinds.count] }

    /// Returns a value of a kind; different numbers give different values.
    static func value(_ kind: Kind, _ number: Int) throws -> Stored {
        switch kind {
        case .boolean: .boolean(number.isMultiple(of: 2))
        case .integer: .integer(number)
        case .text: .text(text(number))
        case .data: .data(data(number))
        case .record: .data(try JSONEncoder().encode(profile(number)))
        }
    }

    static func text(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "x", count: 32 - digits.count) + digits
    }

    static func data(_ number: Int) -> Data {
        var bytes = Data(repeating: 7, count: 1024)
        withUnsafeBytes(of: number) { bytes.replaceSubrange(0..<8, with: $0) }
        return bytes
    }

    static func profile(_ number: Int) -> Profile {
        var profile = Profile()
        profile.width = number
        return profile
    }

    /// All names and values, for a peer.
    func contents() throws -> [(name: String, value: Stored)] {
        try (0..<count).map { (Self.name($0), try Self.value(kind($0), $0)) }
    }

    /// All names and values, for a store of the library.
    var storedValues: [String: PropertyListValue] {
        var values: [String: PropertyListValue] = [:]
        for number in 0..<count {
            values[Self.name(number)] =
                switch kind(number) {
                case .boolean: .boolean(number.isMultiple(of: 2))
                case .integer: .integer(Int64(number))
                case .text: .string(Self.text(number))
                case .data: .data(Self.data(number))
                case .record:
                    [
                        "title": "untitled", "width": .integer(Int64(number)), "height": 600, "scale": 1.5,
                        "tags": ["red", "green"],
                    ]
                }
        }
        return values
    }
}
