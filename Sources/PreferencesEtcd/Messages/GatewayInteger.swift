/// A 64-bit integer as the JSON gateway writes it: as a string, since many programs read JSON's numbers as doubles.
///
/// A number is accepted too. The gateway omits zeros, so every such field of an answer is optional.
struct GatewayInteger: Codable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    var value: Int64

    init(_ value: Int64) { self.value = value }
    init(integerLiteral value: Int64) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text: String
        do {
            text = try container.decode(String.self)
        } catch DecodingError.typeMismatch {
            value = try container.decode(Int64.self)
            return
        }
        guard let value = Int64(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(text)\" isn't an integer")
        }
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(String(value))
    }
}

extension Optional<GatewayInteger> {
    /// The value of a field, or zero if it was omitted.
    var value: Int64 { self?.value ?? 0 }
}
