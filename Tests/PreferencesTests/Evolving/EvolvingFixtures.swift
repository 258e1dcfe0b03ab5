import Foundation
import Preferences

/// Types of values of two versions, and the stores that the tests of evolving values use.
enum Evolving {
    enum Tool: String, Codable { case tree, search, outline }
    enum NativeTool: String, PreferenceValue { case tree, search, outline }
    enum Figure: Codable, Equatable { case circle(radius: Int), square(side: Int) }

    struct Part: Codable, Equatable {
        var scale = 1
        var tool = Tool.tree
    }

    /// The newer version of a value: the older one has stored x, y and width.
    struct Window: Codable, Equatable {
        var x = 0, y = 0, width = 100
        var height = 50
        var tool = Tool.tree
        var note: String?
        var inner = Part()
    }

    struct Item: EvolvingValue, Equatable {
        var id = 0
        var title = "untitled"
        var tools: [Tool] = []
    }

    struct Plain: Codable, Equatable { var name: String, size: Int }

    /// A class whose superclass has members of its own.
    class Base: Codable, @unchecked Sendable {
        var first = 1
        init() {}
    }
    final class Derived: Base, @unchecked Sendable {
        var second = 2
        enum CodingKeys: CodingKey { case second }
        override init() { super.init() }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            second = try container.decode(Int.self, forKey: .second)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(second, forKey: .second)
            try super.encode(to: container.superEncoder())
        }
    }

    /// A type that reads the key of an older version first.
    struct Renamed: Codable, Equatable {
        var width = 0, height = 0
        init(width: Int = 0, height: Int = 0) { (self.width, self.height) = (width, height) }
        enum CodingKeys: CodingKey { case width, w, height }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            width = try container.decode(Int.self, forKey: container.contains(.w) ? .w : .width)
            height = try container.decode(Int.self, forKey: .height)
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(width, forKey: .width)
            try container.encode(height, forKey: .height)
        }
    }

    /// A type that catches the errors of its members.
    struct Tolerant: Codable, Equatable {
        var width = 0, height = 7
        init() {}
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if let number = try? container.decode(Int.self, forKey: .width) {
                width = number
            } else {
                width = try Int(container.decode(String.self, forKey: .width)) ?? -1
            }
            height = try container.decode(Int.self, forKey: .height)
        }
    }

    static func recorded(_ contents: [String: PropertyListValue]) -> (PreferenceStore, Recorder<PreferenceError>) {
        let store = PreferenceStore.inMemory(contents)
        return (store, store.recordIssues())
    }
}

extension PreferenceCoding where Value: Codable & Sendable {
    /// JSON whose keys are spelled otherwise than those of the type.
    static var snake: PreferenceCoding {
        .json("snake") {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            encoder.outputFormatting = .sortedKeys
            return encoder
        } decoder: {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }
    }
}
