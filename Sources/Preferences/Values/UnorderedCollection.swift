/// A collection whose `Codable` form has no fixed order, and may be an array where a dictionary is meant.
protocol UnorderedCollection {
    /// What to store for the elements in the order that the standard library wrote them.
    static func ordered(_ elements: [PropertyListValue]) -> PropertyListValue
    /// The array that the standard library reads, of a stored dictionary; nil where it reads none.
    static func elements(of members: [String: PropertyListValue]) -> [PropertyListValue]?
}

extension Set: UnorderedCollection {
    /// The elements in one order, so that equal sets are equal stored values.
    static func ordered(_ elements: [PropertyListValue]) -> PropertyListValue {
        .array(elements.sorted { $0.precedes($1) })
    }

    static func elements(of members: [String: PropertyListValue]) -> [PropertyListValue]? { nil }
}

extension Dictionary: UnorderedCollection {
    /// A dictionary where every key is a string or an integer of its own; else the pairs, in the order of their keys.
    static func ordered(_ elements: [PropertyListValue]) -> PropertyListValue {
        let pairs = stride(from: 0, to: elements.count, by: 2).map { (key: elements[$0], value: elements[$0 + 1]) }
        var members = [String: PropertyListValue](minimumCapacity: pairs.count)
        for (key, value) in pairs {
            switch key {
            case .string where key.isNestedNil: break
            case .string: if case .string(let name) = key.unnested { members[name] = value }
            case .integer(let number): members[number.description] = value
            case .unsigned(let number): members[number.description] = value
            default: break
            }
        }
        if members.count == pairs.count { return .dictionary(members) }
        return .array(pairs.sorted { $0.key.precedes($1.key) }.flatMap { [$0.key, $0.value] })
    }

    static func elements(of members: [String: PropertyListValue]) -> [PropertyListValue]? {
        members.flatMap { [PropertyListValue(nested: .string($0.key)), $0.value] }
    }
}
