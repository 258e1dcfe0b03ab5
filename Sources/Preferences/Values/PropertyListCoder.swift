/// A coder that converts any `Codable` value to nested stored values and back.
///
/// No coder of Foundation preserves all stored values: signed and unsigned integers of 64 bits distinct from reals, dates to the last
/// bit, and data as data. Nested `nil` has the form of `PropertyListValue.init(nested:)`.
enum PropertyListCoder {
    /// The maximum number of arrays and dictionaries nested in one another.
    static let maximumDepth = 128

    /// Returns the stored form of a value, or `nil` if the value is `nil`.
    static func encode<Value: Encodable>(_ value: Value) throws(PreferenceError) -> PropertyListValue? {
        do {
            return try PropertyListEncoding.encode(value, at: CodingLocation())
        } catch {
            throw PreferenceError(.unencodable, from: error)
        }
    }

    /// Returns the value of a stored form.
    ///
    /// - Parameter readingNumbersAsDates: Whether to also read dates that a JSON coder has written as numbers.
    static func decode<Value: Decodable>(
        _ type: Value.Type,
        from stored: PropertyListValue,
        readingNumbersAsDates: Bool = false
    ) throws(PreferenceError) -> Value {
        do {
            let location = CodingLocation(readsNumbersAsDates: readingNumbersAsDates)
            return try PropertyListDecoding.decode(type, from: stored, isNil: false, at: location)
        } catch {
            throw PreferenceError(.unreadable, from: error)
        }
    }
}

/// The location of a coder inside the value.
struct CodingLocation {
    /// The keys and indices of the path, innermost first; a linked list, so that a step copies nothing.
    private(set) var step: Step?
    /// The number of enclosing arrays and dictionaries.
    private(set) var depth = 0
    /// The number of enclosing values, including those without a container.
    private(set) var level = 0
    var readsNumbersAsDates = false
    /// Whether the value is a key of a stored dictionary, which is a text even if the type's keys are integers.
    private(set) var isKey = false

    init(readsNumbersAsDates: Bool = false) {
        self.readsNumbersAsDates = readsNumbersAsDates
    }

    final class Step {
        let key: any CodingKey
        let previous: Step?

        init(_ key: any CodingKey, after previous: Step?) {
            self.key = key
            self.previous = previous
        }
    }

    /// Returns the location of a member, an element or a key.
    func inside(_ key: any CodingKey, isKey: Bool = false) -> CodingLocation {
        var location = self
        location.step = Step(key, after: step)
        location.isKey = isKey
        location.depth += 1
        location.level += 1
        return location
    }

    /// The location of a value in a single-value container, which has the same path.
    var ofSingleValue: CodingLocation {
        var location = self
        location.level += 1
        return location
    }

    var path: [any CodingKey] {
        var keys: [any CodingKey] = []
        var step = step
        while let current = step {
            keys.append(current.key)
            step = current.previous
        }
        return keys.reversed()
    }

    /// Whether an array or a dictionary is allowed at the location.
    var allowsContainer: Bool { depth < PropertyListCoder.maximumDepth }

    /// Whether no value is allowed at the location. Values without a container count, too, to end an endless chain of them.
    var isTooDeep: Bool { depth > PropertyListCoder.maximumDepth || level > 2 * PropertyListCoder.maximumDepth }

    static let tooDeep = "nested deeper than \(PropertyListCoder.maximumDepth) levels"
}

/// The key of an array's element.
struct IndexKey: CodingKey {
    let index: Int
    var stringValue: String { index.description }
    var intValue: Int? { index }

    init(_ index: Int) { self.index = index }
    init?(stringValue: String) { return nil }
    init?(intValue: Int) { return nil }
}

/// The key under which the standard library's containers encode the superclass of a class.
struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }

    init() {}
    init?(stringValue: String) { return nil }
    init?(intValue: Int) { return nil }
}

extension PreferenceValue where Self: Codable {
    /// Creates a value from nested stored values, by the type's `init(from:)`.
    public init(storedValue: PropertyListValue) throws {
        // Only this conformance reads its members by a reader: a form of the type's own is a matter of the type.
        self =
            EvolvingReader.current == nil
            ? try PropertyListCoder.decode(Self.self, from: storedValue)
            : try PropertyListCoder.decode(Evolved<Self>.self, from: storedValue).value
    }

    /// Returns nested stored values, by the type's `encode(to:)`.
    public func storedValue() throws -> PropertyListValue? { try PropertyListCoder.encode(self) }
}
