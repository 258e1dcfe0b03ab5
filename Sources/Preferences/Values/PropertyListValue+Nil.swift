/// How nil stands inside arrays and dictionaries, which have no place for it.
///
/// The rule is the one of Foundation's `PropertyListEncoder`: the string `$null`. So that a string can't be taken for
/// it, one that is `$null` with any number of dollars gets one more, and loses it when it is read.
extension PropertyListValue {
    /// The value as it stands inside an array or a dictionary.
    init(nested value: PropertyListValue?) {
        switch value {
        case nil: self = .string("$null")
        case .string(let text) where text.isNullWithDollars: self = .string("$" + text)
        case let value?: self = value
        }
    }

    /// Whether the value, read inside an array or a dictionary, is nil where the type has one.
    var isNestedNil: Bool {
        guard case .string(let text) = self else { return false }
        return text.utf8.count == 5 && text == "$null"
    }

    /// The value without the dollar that `init(nested:)` gave it; a lone `$null` stays.
    var unnested: PropertyListValue {
        guard case .string(let text) = self, text.isNullWithDollars, text.utf8.count > 5 else { return self }
        return .string(String(text.dropFirst()))
    }
}

extension String {
    fileprivate var isNullWithDollars: Bool {
        guard utf8.first == UInt8(ascii: "$"), utf8.count >= 5, utf8.suffix(4).elementsEqual("null".utf8) else {
            return false
        }
        return utf8.dropLast(4).allSatisfy { $0 == UInt8(ascii: "$") }
    }
}

/// The nil of a type that has one, or nil.
func nilValue<Value>(of type: Value.Type) -> Value? {
    func open<Literal: ExpressibleByNilLiteral>(_: Literal.Type) -> Value? {
        let value: Literal = nil
        return reinterpreted(value, as: type)
    }
    guard let literal = type as? any ExpressibleByNilLiteral.Type else { return nil }
    return open(literal)
}

/// The value as the type that it has already, or nil; unlike `as?` it doesn't look into optionals and costs a
/// comparison.
@inline(__always)
func reinterpreted<Value, Target>(_ value: Value, as type: Target.Type) -> Target? {
    Value.self == type ? unsafeBitCast(value, to: type) : nil
}
