extension Optional: PreferenceValue where Wrapped: PreferenceValue {
    /// Takes what the wrapped type takes.
    public init(storedValue: PropertyListValue) throws { self = try Wrapped(storedValue: storedValue) }
    /// What the wrapped value stores; nil is not set, on every level.
    public func storedValue() throws -> PropertyListValue? { try self?.storedValue() }
}

extension Array: PreferenceValue where Element: PreferenceValue {
    /// Takes an array.
    public init(storedValue: PropertyListValue) throws {
        self = try [Element](elementsOf: storedValue, as: Self.self)
    }

    /// An array; nil elements stand in it as the string `$null`.
    public func storedValue() throws -> PropertyListValue? { .array(try nestedValues()) }
}

extension Set: PreferenceValue where Element: PreferenceValue {
    /// Takes an array; of elements that are equal one stays.
    public init(storedValue: PropertyListValue) throws {
        self.init(try [Element](elementsOf: storedValue, as: Self.self))
    }

    /// The elements in one order, so that equal sets are equal stored values.
    public func storedValue() throws -> PropertyListValue? {
        .array(try Array(self).nestedValues().sorted { $0.precedes($1) })
    }
}

extension Dictionary: PreferenceValue where Key: PreferenceValue & CodingKeyRepresentable, Value: PreferenceValue {
    /// Takes a dictionary.
    public init(storedValue: PropertyListValue) throws {
        let members = try storedValue.members(as: Self.self)
        self.init(minimumCapacity: members.count)
        for (name, member) in members {
            try PreferencesError.inside(name, .unreadable) {
                guard let key = Key(codingKey: NameKey(stringValue: name)) else {
                    throw PreferencesError(.unreadable, "expected a key of type \(Key.self)")
                }
                self[key] = try Value(nested: member)
            }
        }
    }

    /// A dictionary by the keys' coding keys.
    public func storedValue() throws -> PropertyListValue? {
        var members = [String: PropertyListValue](minimumCapacity: count)
        for (key, value) in self {
            let name = key.codingKey.stringValue
            try PreferencesError.inside(name, .unencodable) {
                guard members.updateValue(try value.nestedValue(), forKey: name) == nil else {
                    throw PreferencesError(.unencodable, "two keys of type \(Key.self) have the same name")
                }
            }
        }
        return .dictionary(members)
    }
}

extension Range: PreferenceValue where Bound: PreferenceValue {
    /// Takes an array of two bounds in order.
    public init(storedValue: PropertyListValue) throws {
        let bounds = try [Bound](boundsOf: storedValue, as: Self.self)
        self = bounds[0]..<bounds[1]
    }

    /// An array of the bounds.
    public func storedValue() throws -> PropertyListValue? { try [lowerBound, upperBound].storedValue() }
}

extension ClosedRange: PreferenceValue where Bound: PreferenceValue {
    /// Takes an array of two bounds in order.
    public init(storedValue: PropertyListValue) throws {
        let bounds = try [Bound](boundsOf: storedValue, as: Self.self)
        self = bounds[0]...bounds[1]
    }

    /// An array of the bounds.
    public func storedValue() throws -> PropertyListValue? { try [lowerBound, upperBound].storedValue() }
}

extension Array where Element: PreferenceValue {
    fileprivate init(elementsOf stored: PropertyListValue, as type: Any.Type) throws {
        let elements = try stored.elements(as: type)
        self.init()
        reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            append(try PreferencesError.inside("\(index)", .unreadable) { try Element(nested: element) })
        }
    }
}

extension Array where Element: PreferenceValue & Comparable {
    /// Two bounds in order, as a range needs them.
    fileprivate init(boundsOf stored: PropertyListValue, as type: Any.Type) throws {
        try self.init(elementsOf: stored, as: type)
        guard count == 2, self[0] <= self[1] else {
            throw PreferencesError(.unreadable, "expected \(type) as two bounds in order")
        }
    }
}

extension Array where Element: PreferenceValue {
    fileprivate func nestedValues() throws -> [PropertyListValue] {
        var values: [PropertyListValue] = []
        values.reserveCapacity(count)
        for index in indices {
            values.append(try PreferencesError.inside("\(index)", .unencodable) { try self[index].nestedValue() })
        }
        return values
    }
}

extension PreferenceValue {
    fileprivate init(nested stored: PropertyListValue) throws {
        if stored.isNestedNil, let absent = nilValue(of: Self.self) {
            self = absent
        } else {
            try self.init(storedValue: stored.unnested)
        }
    }

    fileprivate func nestedValue() throws -> PropertyListValue {
        let stored = try storedValue()
        guard stored != nil || Self.self is any ExpressibleByNilLiteral.Type else {
            throw PreferencesError(.unencodable, "a \(Self.self) that is not set can't stand inside another value")
        }
        return PropertyListValue(nested: stored)
    }
}

/// A coding key of any name; a name that is a number is an index too.
struct NameKey: CodingKey {
    let stringValue: String
    var intValue: Int? { Int(stringValue) }

    init(stringValue: String) { self.stringValue = stringValue }
    init(intValue: Int) { stringValue = intValue.description }
}
