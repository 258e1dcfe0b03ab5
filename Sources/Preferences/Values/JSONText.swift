#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A JSON text with Foundation's default strategies, as other wrappers store values.
struct JSONText {
    let data: Data

    init(data: Data) {
        self.data = data
    }

    /// The text of a value; nil where the value is nil.
    init?(encoding value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        data = try encoder.encode(value)
        if isNull { return nil }
    }

    /// The text that another wrapper may have stored as data or as a string.
    init?(_ stored: PropertyListValue) {
        switch stored {
        case .data(let data): self.data = data
        case .string(let text): data = Data(text.utf8)
        default: return nil
        }
    }

    /// The value; nil where the text is `null` and the type takes that.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        let value = try JSONDecoder().decode(type, from: data)
        return isNull ? nil : value
    }

    /// Whether the text is JSON's null.
    var isNull: Bool {
        data.prefix(16).filter { !" \n\r\t".utf8.contains($0) }.elementsEqual("null".utf8)
    }
}
