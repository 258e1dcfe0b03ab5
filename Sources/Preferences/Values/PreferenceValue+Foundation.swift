#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Data: PreferenceValue {
    /// Takes data.
    public init(storedValue: PropertyListValue) throws {
        guard case .data(let value) = storedValue else { throw storedValue.mismatch(Data.self) }
        self = value
    }

    /// Data.
    public func storedValue() -> PropertyListValue? { .data(self) }
}

extension Date: PreferenceValue {
    /// Takes a date.
    public init(storedValue: PropertyListValue) throws {
        guard case .date(let value) = storedValue else { throw storedValue.mismatch(Date.self) }
        self = value
    }

    /// A date.
    public func storedValue() -> PropertyListValue? { .date(self) }
}

extension URL: PreferenceValue {
    /// Takes the absolute text of a URL, query and fragment included; nothing is percent-encoded to make it one.
    ///
    /// On Apple platforms also what `UserDefaults.set(_:forKey:)` stored for a URL: an archive, or the path of a file.
    public init(storedValue: PropertyListValue) throws {
        if let url = try URL(fromUserDefaults: storedValue) {
            self = url
            return
        }
        let text = try storedValue.string(as: URL.self)
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw storedValue.mismatch(URL.self)
        }
        self = url
    }

    /// The absolute text; a base that the URL was made with is part of it.
    public func storedValue() -> PropertyListValue? { .string(absoluteString) }
}

extension UUID: PreferenceValue {
    /// Takes the text of a UUID.
    public init(storedValue: PropertyListValue) throws {
        guard let uuid = UUID(uuidString: try storedValue.string(as: UUID.self)) else {
            throw storedValue.mismatch(UUID.self)
        }
        self = uuid
    }

    /// The text in capitals.
    public func storedValue() -> PropertyListValue? { .string(uuidString) }
}

extension Locale: PreferenceValue {
    /// Takes an identifier; every text is one.
    public init(storedValue: PropertyListValue) throws {
        self.init(identifier: try storedValue.string(as: Locale.self))
    }

    /// The identifier.
    public func storedValue() -> PropertyListValue? { .string(identifier) }
}

extension TimeZone: PreferenceValue {
    /// Takes the identifier of a zone that the system knows.
    public init(storedValue: PropertyListValue) throws {
        guard let zone = TimeZone(identifier: try storedValue.string(as: TimeZone.self)) else {
            throw storedValue.mismatch(TimeZone.self)
        }
        self = zone
    }

    /// The identifier.
    public func storedValue() -> PropertyListValue? { .string(identifier) }
}

extension Decimal: PreferenceValue {
    /// Takes the decimal text of a number, or an integer.
    public init(storedValue: PropertyListValue) throws {
        switch storedValue {
        case .integer(let value): self.init(value)
        case .unsigned(let value): self.init(value)
        default:
            let text = try storedValue.string(as: Decimal.self)
            if text == Decimal.nan.description {
                self = .nan
                return
            }
            // Foundation's parser stops at what it doesn't know and keeps what it has; Double's takes all or nothing.
            let isNumber = Double(text) != nil && text.utf8.allSatisfy { "+-.eE0123456789".utf8.contains($0) }
            guard isNumber, let value = Decimal(string: text) else { throw storedValue.mismatch(Decimal.self) }
            self = value
        }
    }

    /// Decimal text.
    public func storedValue() -> PropertyListValue? { .string(description) }
}
