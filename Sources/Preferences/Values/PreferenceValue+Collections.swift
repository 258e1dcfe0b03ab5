extension Optional: PreferenceValue where Wrapped: PreferenceValue {
    /// Creates a wrapped value from its stored form.
    public init(storedValue: PropertyListValue) throws { self = try Wrapped(storedValue: storedValue) }
    /// Returns the stored form of the wrapped value, or `nil`, which is not set, at any level of nesting.
    public func storedValue() throws -> PropertyListValue? { try self?.storedValue() }
}

extension Array: PreferenceValue where Element: PreferenceValue {
    /// Creates an array from an array, whose elements must be stored forms of the element type.
    public init(storedValue: PropertyListValue) throws {
        self = try [Element](elementsOf: storedValue, as: Self.self)
    }

    /// Returns an array; a `nil` element is stored as the string `$null`.
    public func storedValue() throws -> PropertyListValue? { .array(try nestedValues()) }
}

extension Set: PreferenceValue where Element: PreferenceValue {
    /// Creates a set from an array; equal elements become one.
    public init(storedValue: PropertyListValue) throws {
        self.init(try [Element](elementsOf: storedValue, as: Self.self))
    }

    /// Returns an array of the elements in a fixed order, so that equal sets have equal stored values.
    public func storedValue() throws -> PropertyListValue? {
        .array(try Array(self).nestedValues().inOrder)
    }
}

extension Dictionary: PreferenceValue where Key: PreferenceValue & CodingKeyRepresentable, Value: PreferenceValue {
    /// Creates a dictionary from a dictionary.
    public init(storedValue: PropertyListValue) throws {
        let members = try storedValue.members(as: Self.self)
        self.init(minimumCapacity: members.count)
        for (name, member) in members {
            try PreferenceError.inside(name, .unreadable) {
                guard let key = Key(codingKey: NameKey(stringValue: name)) else {
                    throw PreferenceError(.unreadable, "expected a key of type \(Key.self)")
                }
                self[key] = try Value(nested: member)
            }
        }
    }

    /// Returns a dictionary whose keys are the strings of the keys' coding keys.
    ///
    /// - Throws: `unencodable` if two keys have the same string, or a value can't be stored.
    public func storedValue() throws -> PropertyListValue? {
        var members = [String: PropertyListValue](minimumCapacity: count)
        for (key, value) in self {
            let name = key.codingKey.stringValue
            try PreferenceError.inside(name, .unencodable) {
                guard members.updateValue(try value.nestedValue(), forKey: name) == nil else {
                    throw PreferenceError(
                        .unencodable,
                        "two keys of type \(Key.self) have one name; nothing was changed. Give each its own coding key"
                    )
                }
            }
        }
        return .dictionary(members)
    }
}

extension Range: PreferenceValue where Bound: PreferenceValue {
    /// Creates a range from an array of its two bounds, the lower one first.
    public init(storedValue: PropertyListValue) throws {
        let bounds = try [Bound](boundsOf: storedValue, as: Self.self)
        self = bounds[0]..<bounds[1]
    }

    /// Returns an array of the bounds.
    public func storedValue() throws -> PropertyListValue? { try [lowerBound, upperBound].storedValue() }
}

extension ClosedRange: PreferenceValue where Bound: PreferenceValue {
    /// Creates a range from an array of its two bounds, the lower one first.
    public init(storedValue: PropertyListValue) throws {
        let bounds = try [Bound](boundsOf: storedValue, as: Self.self)
        self = bounds[0]...bounds[1]
    }

    /// Returns an array of the bounds.
    public func storedValue() throws -> PropertyListValue? { try [lowerBound, upperBound].storedValue() }
}

extension Array where Element: PreferenceValue {
    fileprivate init(elementsOf stored: PropertyListValue, as type: Any.Type) throws {
        let elements = try stored.elements(as: type)
        self.init()
        reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            append(try PreferenceError.inside("\(index)", .unreadable) { try Element(nested: element) })
        }
    }
}

extension Array where Element: PreferenceValue & Comparable {
    /// Creates the two bounds of a range, the lower one first.
    fileprivate init(boundsOf stored: PropertyListValue, as type: Any.Type) throws {
        try self.init(elementsOf: stored, as: type)
        guard count == 2, self[0] <= self[1] else {
            throw PreferenceError(.unreadable, "expected \(type) as two bounds, the lower one first")
        }
    }
}

extension Array where Element: PreferenceValue {
    fileprivate func nestedValues() throws -> [PropertyListValue] {
        var values: [PropertyListValue] = []
        values.reserveCapacity(count)
        for index in indices {
            values.append(try PreferenceError.inside("\(index)", .unencodable) { try self[index].nestedValue() })
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
            throw PreferenceError(
                .unencodable,
                "a \(Self.self) without a stored form can't be in an array or a dictionary; nothing was changed. "
                    + "Make the element optional"
            )
        }
        return PropertyListValue(nested: stored)
    }
}

/// A coding key of any name; a name that is a number is also an index.
struct NameKey: CodingKey {
    let stringValue: String
    var intValue: Int? { Int(stringValue) }

    init(stringValue: String) { self.stringValue = stringValue }
    init(intValue: Int) { stringValue = intValue.description }
}

// MARK: The types inside of collections

package protocol StoredAsArray {
    static var elementType: Any.Type { get }
}
extension Array: StoredAsArray {
    package static var elementType: Any.Type { Element.self }
}
extension Set: StoredAsArray {
    package static var elementType: Any.Type { Element.self }
}
package protocol StoredAsBounds: StoredAsArray {}
extension Range: StoredAsBounds {
    package static var elementType: Any.Type { Bound.self }
}
extension ClosedRange: StoredAsBounds {
    package static var elementType: Any.Type { Bound.self }
}

package protocol StoredAsDictionary {
    static var memberType: Any.Type { get }
}
extension Dictionary: StoredAsDictionary {
    package static var memberType: Any.Type { Value.self }
}
