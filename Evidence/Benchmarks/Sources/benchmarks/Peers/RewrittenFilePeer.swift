import Foundation

/// A dictionary in memory whose file each set atomically rewrites, as programs do without a library.
final class RewrittenFilePeer: Peer {
    enum Format { case json, propertyList }

    private let url: URL
    private let format: Format
    private var values: [String: Any]

    init(_ folder: String, _ format: Format) throws {
        url = URL(filePath: folder).appending(path: format == .json ? "preferences.json" : "preferences.plist")
        self.format = format
        values = FileManager.default.fileExists(atPath: url.path) ? try Self.read(url, format) : [:]
    }

    private static func read(_ url: URL, _ format: Format) throws -> [String: Any] {
        let data = try Data(contentsOf: url)
        let object =
            switch format {
            case .json: try JSONSerialization.jsonObject(with: data)
            case .propertyList: try PropertyListSerialization.propertyList(from: data, format: nil)
            }
        guard let values = object as? [String: Any] else { throw Failure("\(url.path) holds no dictionary") }
        return values
    }

    func value(of name: String, as kind: Kind) -> Stored? {
        switch kind {
        case .boolean: (values[name] as? Bool).map { .boolean($0) }
        case .integer: (values[name] as? Int).map { .integer($0) }
        case .text: (values[name] as? String).map { .text($0) }
        case .data, .record:
            switch format {
            case .json: (values[name] as? String).flatMap { Data(base64Encoded: $0) }.map { .data($0) }
            case .propertyList: (values[name] as? Data).map { .data($0) }
            }
        }
    }

    func set(_ value: Stored, for name: String) throws { try set([(name, value)]) }

    func set(_ values: [(name: String, value: Stored)]) throws {
        for (name, value) in values { self.values[name] = object(value) }
        let data =
            switch format {
            case .json: try JSONSerialization.data(withJSONObject: self.values)
            case .propertyList:
                try PropertyListSerialization.data(fromPropertyList: self.values, format: .binary, options: 0)
            }
        try data.write(to: url, options: .atomic)
    }

    private func object(_ value: Stored) -> Any {
        switch value {
        case .boolean(let flag): flag
        case .integer(let number): number
        case .text(let text): text
        case .data(let data): format == .json ? data.base64EncodedString() : data
        }
    }
}
