import Foundation

/// A dictionary in memory whose JSON file each set atomically rewrites, as programs do without a library.
final class RewrittenFilePeer: Peer {
    private let url: URL
    private var values: [String: Any]

    init(_ folder: String) throws {
        url = URL(filePath: folder).appending(path: "preferences.json")
        values = FileManager.default.fileExists(atPath: url.path) ? try Self.read(url) : [:]
    }

    private static func read(_ url: URL) throws -> [String: Any] {
        guard let values = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any] else {
            throw Failure("\(url.path) holds no dictionary")
        }
        return values
    }

    func value(of name: String, as kind: Kind) -> Stored? {
        switch kind {
        case .boolean: (values[name] as? Bool).map { .boolean($0) }
        case .integer: (values[name] as? Int).map { .integer($0) }
        case .text: (values[name] as? String).map { .text($0) }
        case .data, .record: (values[name] as? String).flatMap { Data(base64Encoded: $0) }.map { .data($0) }
        }
    }

    func set(_ value: Stored, for name: String) throws { try set([(name, value)]) }

    func set(_ values: [(name: String, value: Stored)]) throws {
        for (name, value) in values { self.values[name] = object(value) }
        try JSONSerialization.data(withJSONObject: self.values).write(to: url, options: .atomic)
    }

    private func object(_ value: Stored) -> Any {
        switch value {
        case .boolean(let flag): flag
        case .integer(let number): number
        case .text(let text): text
        case .data(let data): data.base64EncodedString()
        }
    }
}
