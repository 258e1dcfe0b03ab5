/// Turns any `Codable` value into nested stored values and back.
///
/// Ours, because no coder of Foundation keeps what a stored value can hold: integers of 64 bits with and without sign
/// apart from reals, dates to the last bit, data as data. Nil inside stands as `PropertyListValue.init(nested:)` says.
enum PropertyListCoder {
    /// How many arrays and dictionaries may stand inside one another.
    static let maximumDepth = 128

    /// The stored value; nil where the value is nil itself.
    static func encode<Value: Encodable>(_ value: Value) throws(PreferencesError) -> PropertyListValue? {
        do {
            return try PropertyListEncoding.encode(value, at: CodingLocation())
        } catch {
            throw PreferencesError(.unencodable, from: error)
        }
    }

    /// The value of what is stored; `takingNumbersAsDates` also reads dates that a JSON coder turned into numbers.
    static func decode<Value: Decodable>(
        _ type: Value.Type,
        from stored: PropertyListValue,
        takingNumbersAsDates: Bool = false
    ) throws(PreferencesError) -> Value {
        do {
            let location = CodingLocation(takesNumbersAsDates: takingNumbersAsDates)
            return try PropertyListDecoding.decode(type, from: stored, isNil: false, at: location)
        } catch {
            throw PreferencesError(.unreadable, from: error)
        }
    }
}

/// Where a coder is inside the value.
struct CodingLocation {
    /// The key or index on the way here, innermost first; a list, so that a step copies nothing.
    private(set) var step: Step?
    /// How many arrays and dictionaries are around.
    private(set) var depth = 0
    /// How many values are around, those without a container of their own too.
    private(set) var level = 0
    var takesNumbersAsDates = false

    init(takesNumbersAsDates: Bool = false) {
        self.takesNumbersAsDates = takesNumbersAsDates
    }

    final class Step {
        let key: any CodingKey
        let previous: Step?

        init(_ key: any CodingKey, after previous: Step?) {
            self.key = key
            self.previous = previous
        }
    }

    /// The place of a member or element.
    func inside(_ key: any CodingKey) -> CodingLocation {
        var location = self
        location.step = Step(key, after: step)
        location.depth += 1
        location.level += 1
        return location
    }

    /// The place of a value that stands for the one here.
    var alike: CodingLocation {
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

    /// Whether an array or a dictionary may stand here.
    var takesContainer: Bool { depth < PropertyListCoder.maximumDepth }

    /// Whether nothing may stand here; values without a container count too, or a chain of them would never end.
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

/// The key that the standard library gives to a class's inherited part.
struct SuperKey: CodingKey {
    var stringValue: String { "super" }
    var intValue: Int? { nil }

    init() {}
    init?(stringValue: String) { return nil }
    init?(intValue: Int) { return nil }
}

extension PreferenceValue where Self: Codable {
    /// Takes nested stored values.
    public init(storedValue: PropertyListValue) throws {
        self = try PropertyListCoder.decode(Self.self, from: storedValue)
    }

    /// Nested stored values.
    public func storedValue() throws -> PropertyListValue? { try PropertyListCoder.encode(self) }
}
