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
            let indices = stride(from: 0, to: elements.count, by: width).sorted { elements[$0].precedes(elements[$1]) }
            return .array(indices.flatMap { elements[$0..<$0 + width] })
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

/// The keys and values of a dictionary.
private struct Pairs {
    var keys: [PropertyListValue] = []
    var values: [PropertyListValue: PropertyListValue] = [:]

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
