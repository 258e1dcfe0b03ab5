// Sets, and dictionaries that are stored as a list of keys and values: in JSON those whose keys aren't texts or integers, such as an
// enum, and in nested stored values those whose keys aren't different texts or integers there. Their order has no meaning, and in JSON it
// differs from text to text.

extension ValueMerge {
    /// Returns a value with such lists in a fixed order, so that equal ones are equal.
    ///
    /// - Parameter widths: The number of list elements that are one element, by the path of each such list.
    func ordered(_ value: PropertyListValue, _ widths: [[String]: Int]) -> PropertyListValue {
        ordered(value, spelled(widths), at: [])
    }

    private func ordered(_ value: PropertyListValue, _ widths: [[String]: Int], at path: [String]) -> PropertyListValue
    {
        switch value {
        case .dictionary(let members):
            let ordered = members.map { ($0, self.ordered($1, widths, at: path + [$0])) }
            return .dictionary(Dictionary(uniqueKeysWithValues: ordered))
        case .array(let elements):
            let elements = elements.enumerated().map { ordered($1, widths, at: path + [$0.description]) }
            guard let width = widths[spelled(path)], elements.count.isMultiple(of: width) else {
                return .array(elements)
            }
            let keys = stride(from: 0, to: elements.count, by: width).map { elements[$0] }
            return .array(keys.order.flatMap { elements[$0 * width..<($0 + 1) * width] })
        default: return value
        }
    }

    /// Returns the merged keys and values of a dictionary, in the order of `stored`, and then the new ones; nil if keys are equal in
    /// their stored form.
    mutating func pairs(
        _ new: [PropertyListValue],
        _ base: [PropertyListValue],
        _ stored: [PropertyListValue],
        at path: [String],
        isPart: Bool
    ) -> [PropertyListValue]? {
        guard let new = Pairs(new), let base = Pairs(base), stored.count.isMultiple(of: 2) else { return nil }
        let keys = stride(from: 0, to: stored.count, by: 2)
        var (places, others) = matches(of: base.keys, among: readable(keys, at: path), in: stored, at: path)
        let unmatched = places.indices.filter { places[$0] == nil }
        if !isBaseOther, unmatched.count == 1, others.count == 1 { places[unmatched[0]] = others[0] }
        // It is unknown which of these keys the program writes in which other form: they are replaced.
        let replaced = !isBaseOther && unmatched.count == others.count ? others : []
        let known = zip(places, base.keys).compactMap { place, key in place.map { ($0, key) } }
        let origins = Dictionary(uniqueKeysWithValues: known)

        var merged: [PropertyListValue] = []
        var left = new.values
        for place in keys {
            if let key = origins[place] {
                guard let value = left.removeValue(forKey: key), let known = base.values[key] else { continue }
                let path = path + [(place + 1).description]
                merged += [stored[place], self.merged(value, known, stored[place + 1], at: path, isPart: isPart)]
            } else if left[stored[place]] == nil, !replaced.contains(place), keepsUnknown(path + [place.description]) {
                merged += stored[place...place + 1]
            }
        }
        for key in new.keys {
            if let value = left[key] { merged += [key, value] }
        }
        return merged
    }
}

extension ValueMerge {
    /// Returns the merged entries of a dictionary of which some forms are a list of keys and values and others a dictionary, such as
    /// that of an empty one; nil if they aren't entries.
    mutating func entries(
        _ new: PropertyListValue,
        _ base: PropertyListValue,
        _ stored: PropertyListValue,
        at path: [String],
        isPart: Bool
    ) -> PropertyListValue? {
        let hasTextKeys = [new, base, stored].contains(where: \.listsTextKeys)
        let list: [PropertyListValue]
        switch stored {
        case .array(let stored):
            guard let new = new.entries(hasTextKeys), let base = base.entries(hasTextKeys),
                let pairs = pairs(new, base, stored, at: path, isPart: isPart)
            else { return nil }
            list = pairs
        case .dictionary(let stored):
            // By name, as the holes in it are not numbered.
            guard let newPairs = new.entries(hasTextKeys).flatMap(Pairs.init),
                let basePairs = base.entries(hasTextKeys).flatMap(Pairs.init)
            else { return nil }
            let members = members(newPairs.named, basePairs.named, stored, at: path, isPart: isPart)
            let named = PropertyListValue.dictionary(members).entries(hasTextKeys) ?? []
            list = named + newPairs.keys.filter { $0.nameAsKey == nil }.flatMap { [$0, newPairs.values[$0] ?? $0] }
        default: return nil
        }
        guard case .dictionary = new else { return .array(list) }
        let ordered = [String: PropertyListValue].ordered(list)
        if case .dictionary = ordered { return ordered }
        return .array(list)
    }
}

extension PropertyListValue {
    /// Whether it is a list of keys and values with a text among the keys.
    fileprivate var listsTextKeys: Bool {
        guard case .array(let elements) = self else { return false }
        return stride(from: 0, to: elements.count, by: 2).contains { index in
            if case .string = elements[index] { !elements[index].isNestedNil } else { false }
        }
    }

    /// Returns the keys and values of a dictionary, or of a list of them.
    ///
    /// - Parameter hasTextKeys: Whether keys are texts, so that those of a dictionary aren't integers.
    fileprivate func entries(_ hasTextKeys: Bool) -> [PropertyListValue]? {
        switch self {
        case .array(let elements): elements
        case .dictionary(let members):
            members.sortedByBytes.flatMap { name, value in
                let integer = hasTextKeys ? nil : PropertyListValue.string(name).integerInText
                return [integer ?? PropertyListValue(nested: .string(name)), value]
            }
        default: nil
        }
    }
}

/// The keys and values of a dictionary.
private struct Pairs {
    var keys: [PropertyListValue] = []
    var values: [PropertyListValue: PropertyListValue] = [:]

    /// The values of the keys that a stored dictionary can have.
    var named: [String: PropertyListValue] {
        Dictionary(keys.compactMap { key in key.nameAsKey.map { ($0, values[key] ?? key) } }) { first, _ in first }
    }

    /// Creates the pairs of a list of keys and values; nil if two keys are equal.
    init?(_ list: [PropertyListValue]) {
        guard list.count.isMultiple(of: 2) else { return nil }
        for index in stride(from: 0, to: list.count, by: 2) {
            keys.append(list[index])
            guard values.updateValue(list[index + 1], forKey: list[index]) == nil else { return nil }
        }
    }
}

extension PropertyListValue {
    /// Whether there is a list of several elements in the value.
    var holdsList: Bool {
        switch self {
        case .dictionary(let members): members.values.contains(where: \.holdsList)
        case .array(let elements): elements.count > 1 || elements.contains(where: \.holdsList)
        default: false
        }
    }
}
