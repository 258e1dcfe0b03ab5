#if Configuration
internal import Configuration
internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// MARK: A stored value as content

extension ConfigContent {
    /// Creates the content of the type as which a stored value is read; `nil` if it can't be read so.
    init?(_ stored: PropertyListValue, as type: ConfigType) {
        let content: ConfigContent? =
            switch type {
            case .string: stored.text.map(ConfigContent.string)
            case .int: stored.read(Int.self).map(ConfigContent.int)
            case .double: stored.read(Double.self).map(ConfigContent.double)
            case .bool: stored.read(Bool.self).map(ConfigContent.bool)
            case .bytes: stored.isText ? nil : stored.read(Data.self).map { .bytes(Array($0)) }
            case .stringArray: stored.texts.map(ConfigContent.stringArray)
            case .intArray: stored.read([Int].self).map(ConfigContent.intArray)
            case .doubleArray: stored.read([Double].self).map(ConfigContent.doubleArray)
            case .boolArray: stored.read([Bool].self).map(ConfigContent.boolArray)
            case .byteChunkArray:
                stored.isText ? nil : stored.read([Data].self).map { .byteChunkArray($0.map(Array.init)) }
            }
        guard let content else { return nil }
        self = content
    }
}

extension PropertyListValue {
    /// Whether the value is a text, or has one as an element, which only a preference that is declared as data reads as Base64.
    fileprivate var isText: Bool {
        switch self {
        case .string: true
        case .array(let elements): elements.contains(where: \.isText)
        default: false
        }
    }

    /// Returns the value that a preference of the type reads.
    fileprivate func read<Value: PreferenceValue>(_: Value.Type) -> Value? {
        do { return try PreferenceCoding<Value>.native.decode(self) } catch { return nil }
    }

    /// The string, or the text of a value whose type content doesn't have; `nil` for other types.
    fileprivate var text: String? {
        switch self {
        case .string(let text): text
        case .date: dateText ?? json
        case .unsigned(let number) where Int(exactly: number) == nil: number.description
        case .dictionary: json
        case .array: isArrayOfOneKind ? nil : json
        case .boolean, .integer, .unsigned, .real, .data: nil
        }
    }

    /// The elements of an array as strings.
    fileprivate var texts: [String]? {
        guard case .array(let elements) = self else { return read([String].self) }
        var texts: [String] = []
        for element in elements {
            guard let text = element.textOfElement else { return nil }
            texts.append(text)
        }
        return texts
    }

    private var textOfElement: String? {
        switch self {
        // The text stands for nil; a string with this text is stored with an additional dollar sign.
        case .string("$null"): nil
        case .string: PropertyListValue.array([self]).read([String].self)?.first
        default: text
        }
    }

    private var isArrayOfOneKind: Bool {
        texts != nil || read([Int].self) != nil || read([Double].self) != nil || read([Bool].self) != nil
            || read([Data].self) != nil
    }

    /// The value's text in the preferences file.
    private var json: String? {
        do { return try json() } catch { return nil }
    }

    /// The type of the value, without the value.
    var kind: String {
        switch self {
        case .boolean: "a boolean"
        case .integer, .unsigned: "an integer"
        case .real: "a real"
        case .string: "a string"
        case .data: "data"
        case .date: "a date"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }
}

// MARK: Content as a stored value

extension ConfigContent {
    /// The stored values that the content may stand for: the value of text that is JSON, the content itself, and a date or Boolean.
    var readings: [PropertyListValue] {
        switch self {
        case .string(let text): text.readings
        case .stringArray(let texts):
            // Each reading applies to all elements.
            [
                .array(texts.map { $0.json ?? .element($0) }),
                stored,
                .array(texts.map { PropertyListValue.readings(of: $0).first ?? .element($0) }),
            ]
        default: [stored]
        }
    }

    /// The content, unconverted.
    var stored: PropertyListValue {
        switch self {
        case .string(let text): .string(text)
        case .int(let value): .integer(Int64(value))
        case .double(let value): .real(value)
        case .bool(let value): .boolean(value)
        case .bytes(let bytes): .data(Data(bytes))
        case .stringArray(let texts): .array(texts.map(PropertyListValue.element))
        case .intArray(let values): .array(values.map { .integer(Int64($0)) })
        case .doubleArray(let values): .array(values.map { .real($0) })
        case .boolArray(let values): .array(values.map { .boolean($0) })
        case .byteChunkArray(let chunks): .array(chunks.map { .data(Data($0)) })
        }
    }
}

extension String {
    fileprivate var readings: [PropertyListValue] {
        (json.map { [$0] } ?? []) + [.string(self)] + PropertyListValue.readings(of: self)
    }

    /// The array or dictionary whose text this is, in the JSON of the preferences file.
    fileprivate var json: PropertyListValue? {
        guard let first = first(where: { !$0.isWhitespace }), first == "{" || first == "[" else { return nil }
        do { return try PropertyListValue(json: self) } catch { return nil }
    }
}

extension PropertyListValue {
    /// Returns a string as an element of an array stores it.
    fileprivate static func element(_ text: String) -> PropertyListValue {
        do {
            if case .array(let elements)? = try [text].storedValue() { return elements[0] }
        } catch {
            // Storing a string doesn't throw.
        }
        return .string(text)
    }
}
#endif
