/// The three-way merge of a composite value: what is set, what the program understood of the stored value, and that value itself.
///
/// A program sets a whole value, of which it may know only a part: another version has stored members and elements that it has no
/// type for. What it knew and changed is stored; everything else stays as it is.
///
/// - For each member: equal in `new` and `base`, the stored one stays as it is, or `new`'s is stored if none is; two dictionaries or
///   two lists are merged inside; in `base` alone, it is removed; in neither, the stored one is kept; else `new`'s is stored.
/// - In a list, equal beginnings and ends, and then equal elements in order, are the same elements. Of the rest, those with the same
///   `id`, and an element that alone differs, are merged inside. What `base` lacks stays behind the element that it followed, else
///   behind the nearest one before that is left, else in front.
/// - A dictionary that is stored as a list of keys and values is merged as a dictionary, in the order that is stored.
package struct ValueMerge {
    /// The indices of the elements of each stored list that the program could not decode, by the list's path.
    var holes: [[String]: Set<Int>] = [:]
    /// The paths of the members that it could not decode, so that `base` has the default there.
    var replaced: Set<[String]> = []
    /// Whether `holes` and `replaced` spell keys as the type does, and the values as a coder's strategy does, such as `windowWidth` and
    /// `window_width`.
    private(set) var ignoresSpelling = false
    /// The number of list elements that are one element, by the path of each stored list whose order has no meaning.
    var unordered: [[String]: Int] = [:]
    /// The part that is set, which is stored even if it is what was shown in place of a member that can't be decoded.
    var part: ValuePart?
    /// Whether `base` wasn't read from `stored`: an element whose place isn't certain then has none.
    package var isBaseOther = false
    /// The paths of the stored members in neither `new` nor `base` that aren't kept.
    private var dropped: Set<[String]> = []
    /// The paths of the stored members in neither `new` nor `base`.
    private var unknown: [[String]] = []

    package init() {}

    /// Compares keys without regard to underscores and case.
    mutating func ignoreSpelling() {
        ignoresSpelling = true
        replaced = Set(replaced.map(spelled))
        holes = Dictionary(holes.map { (spelled($0), $1) }) { $0.union($1) }
        unordered = spelled(unordered)
    }

    func spelled(_ path: [String]) -> [String] { ignoresSpelling ? path.map(\.withoutSpelling) : path }

    func spelled(_ widths: [[String]: Int]) -> [[String]: Int] {
        Dictionary(widths.map { (spelled($0), $1) }) { first, _ in first }
    }

    /// Returns whether a member, with a new form or none, is the part that is set.
    private func isSet(_ path: [String], to form: PropertyListValue?) -> Bool {
        guard let part else { return false }
        if let own = part.path { return spelled(own) == spelled(path) }
        return part.form == form && path.last.map { spelled([$0]) == spelled([part.name]) } ?? false
    }

    private func isReplaced(_ path: [String]) -> Bool { !replaced.isEmpty && replaced.contains(spelled(path)) }

    /// Returns the value to store.
    ///
    /// - Parameters:
    ///   - new: The form of the value that is set.
    ///   - base: The form of the value that the program read from `stored`.
    ///   - stored: The stored value.
    ///   - gives: Returns whether the program reads a form as the value that is set. A type that prefers a member of another version
    ///     to its own would not: then as few unknown members as necessary are left out, or all if they aren't the cause.
    package mutating func merged(
        _ new: PropertyListValue,
        _ base: PropertyListValue,
        into stored: PropertyListValue,
        _ gives: (PropertyListValue) -> Bool
    ) -> PropertyListValue {
        let merged = merged(new, base, stored, at: [], isPart: false)
        if merged == new || gives(merged) { return merged }
        return withoutCauses(unknown) { merge, paths in
            merge.dropped = paths
            let rest = merge.merged(new, base, stored, at: [], isPart: false)
            return gives(rest) ? rest : nil
        } ?? new
    }

    /// Returns the value without as few of the unknown members as necessary, or nil if they aren't the cause.
    ///
    /// Members of the same key in several elements are kept or left out together, and halves of all are tried first, as a value may have
    /// thousands of members that the program doesn't know.
    private mutating func withoutCauses(
        _ unknown: [[String]],
        _ without: (inout ValueMerge, Set<[String]>) -> PropertyListValue?
    ) -> PropertyListValue? {
        guard !unknown.isEmpty, var best = without(&self, Set(unknown)) else { return nil }
        let kinds = Dictionary(grouping: unknown) { path in path.map { Int($0) == nil ? $0 : "*" } }
        var dropped = Set(unknown)
        var untried = [kinds.sortedByBytes { $0.key.joined(separator: ".") }.map(\.value)[...]]
        while let kinds = untried.popLast() {
            let rest = dropped.subtracting(kinds.joined())
            if let value = rest.isEmpty ? nil : without(&self, rest) {
                (best, dropped) = (value, rest)
            } else if kinds.count > 1 {
                let half = kinds.prefix(kinds.count / 2)
                untried += [kinds.dropFirst(half.count), half]
            }
        }
        return best
    }

    mutating func merged(
        _ new: PropertyListValue,
        _ base: PropertyListValue,
        _ stored: PropertyListValue,
        at path: [String],
        isPart: Bool
    ) -> PropertyListValue {
        let isPart = isPart || isSet(path, to: new)
        if new == base, part == nil || isReplaced(path) && !isPart { return stored }
        if isReplaced(path) { return new }
        switch (new, base, stored) {
        case (.dictionary(let new), .dictionary(let base), .dictionary(let stored)):
            return .dictionary(members(new, base, stored, at: path, isPart: isPart))
        case (.array(let new), .array(let base), .array(let stored)):
            if !unordered.isEmpty, unordered[spelled(path)] == 2,
                let pairs = pairs(new, base, stored, at: path, isPart: isPart)
            {
                return .array(pairs)
            }
            return elements(new, base, stored, at: path, isPart: isPart).map { .array($0) } ?? .array(new)
        default:
            if unordered[spelled(path)] == 2, let entries = entries(new, base, stored, at: path, isPart: isPart) {
                return entries
            }
            return new == base ? stored : new
        }
    }

    mutating func members(
        _ new: [String: PropertyListValue],
        _ base: [String: PropertyListValue],
        _ stored: [String: PropertyListValue],
        at path: [String],
        isPart: Bool
    ) -> [String: PropertyListValue] {
        var members: [String: PropertyListValue] = [:]
        for (name, value) in stored where new[name] == nil && base[name] == nil {
            let path = path + [name]
            // A member that can't be decoded, and was shown as nil, is set to nil.
            if isReplaced(path), isSet(path, to: nil) { continue }
            if keepsUnknown(path) { members[name] = value }
        }
        for (name, value) in new {
            guard let known = base[name], let kept = stored[name] else {
                members[name] = value
                continue
            }
            members[name] = merged(value, known, kept, at: path + [name], isPart: isPart)
        }
        return members
    }

    /// Returns whether a stored member in neither `new` nor `base` is kept.
    mutating func keepsUnknown(_ path: [String]) -> Bool {
        if dropped.isEmpty { unknown.append(path) }
        return !dropped.contains(path)
    }

    // MARK: Lists

    /// Returns the merged elements, or nil if it is unknown which stored element each one of `base` was read from.
    private mutating func elements(
        _ new: [PropertyListValue],
        _ base: [PropertyListValue],
        _ stored: [PropertyListValue],
        at path: [String],
        isPart: Bool
    ) -> [PropertyListValue]? {
        guard let (places, known) = places(of: base, in: stored, at: path) else { return nil }
        let origins = origins(of: new, in: base)
        var merged: [(place: Int?, value: PropertyListValue)] = []
        for (value, origin) in zip(new, origins) {
            guard let origin, let place = places[origin] else {
                merged.append((nil, value))
                continue
            }
            let path = path + [place.description]
            merged.append((place, self.merged(value, base[origin], stored[place], at: path, isPart: isPart)))
        }
        return inserting(stored, lackedBy: Set(known), into: merged)
    }

    /// Returns the indices in `stored` of the elements of `base`, nil for those that it lacks or whose place isn't certain, and of all
    /// elements that `base` has, or nil if they aren't known.
    private func places(
        of base: [PropertyListValue],
        in stored: [PropertyListValue],
        at path: [String]
    ) -> (places: [Int?], known: [Int])? {
        let readable = readable(stored.indices, at: path)
        let (places, others) = matches(of: base, among: readable, in: stored, at: path)
        guard !isBaseOther, places.contains(nil) else { return (places, places.compactMap(\.self)) }
        guard readable.count == base.count else { return nil }
        // The elements of a set have no position.
        if !unordered.isEmpty, unordered[spelled(path)] != nil { return (places, readable) }
        var next = others.makeIterator()
        return (places.map { $0 ?? next.next() }, readable)
    }

    /// Returns those of the indices of a list whose elements could be decoded.
    func readable(_ indices: some Sequence<Int>, at path: [String]) -> [Int] {
        let holes = holes.isEmpty ? [] : holes[spelled(path)] ?? []
        return indices.filter { !holes.contains($0) }
    }

    /// Returns the indices in `stored` of the elements of `base`, nil for those that are none of the readable ones, and the readable
    /// ones that are left.
    func matches(
        of base: [PropertyListValue],
        among readable: [Int],
        in stored: [PropertyListValue],
        at path: [String]
    ) -> (places: [Int?], others: [Int]) {
        let isInOrder =
            !isBaseOther && readable.count == base.count
            && zip(readable, base).allSatisfy { covers($1, stored[$0], at: path + [$0.description]) }
        if isInOrder { return (readable, []) }
        // The elements of a set may be stored in another order, and a type may leave some out itself.
        var left = Places(readable.map { (stored[$0], $0) })
        var places = base.map { left.next(of: $0) }
        var identified = Places(left.all.compactMap { place in stored[place].identity.map { ($0, place) } })
        for index in base.indices where places[index] == nil {
            guard let identity = base[index].identity, let place = identified.next(of: identity) else { continue }
            places[index] = place
            left.remove(place, of: stored[place])
        }
        return (places, left.all)
    }

    /// Returns whether what the program knows of a value may have been read from a stored one.
    private func covers(_ base: PropertyListValue, _ stored: PropertyListValue, at path: [String]) -> Bool {
        if isReplaced(path) { return true }
        switch (base, stored) {
        case (.dictionary(let base), .dictionary(let stored)):
            return base.allSatisfy { name, value in
                stored[name].map { covers(value, $0, at: path + [name]) } ?? true
            }
        case (.array, .array): return true
        default: return base == stored
        }
    }

    /// Returns the index in `base` of the element that each one of `new` is, or nil for new elements.
    private func origins(of new: [PropertyListValue], in base: [PropertyListValue]) -> [Int?] {
        var origins = [Int?](repeating: nil, count: new.count)
        let shorter = min(new.count, base.count)
        let head = (0..<shorter).first { new[$0] != base[$0] } ?? shorter
        let tail = (0..<shorter - head).first { new[new.count - 1 - $0] != base[base.count - 1 - $0] } ?? shorter - head
        for index in 0..<head { origins[index] = index }
        for index in 0..<tail { origins[new.count - 1 - index] = base.count - 1 - index }
        let middle = head..<new.count - tail
        var left = Places((head..<base.count - tail).map { (base[$0], $0) })
        for index in middle { origins[index] = left.next(of: new[index]) }
        // Of the rest, the elements of the same identity.
        var identified = Places(left.all.compactMap { index in base[index].identity.map { ($0, index) } })
        for index in middle where origins[index] == nil {
            guard let identity = new[index].identity else { continue }
            origins[index] = identified.next(of: identity)
        }
        // And one that alone differs.
        if new.count == base.count, middle.count == 1, let index = middle.first, origins[index] == nil,
            new[index].identity == nil, new[index].isComposite, base[index].isComposite
        {
            origins[index] = index
        }
        return origins
    }

    /// Returns the merged elements with the stored ones that `base` lacks, each behind the element that it followed.
    private func inserting(
        _ stored: [PropertyListValue],
        lackedBy known: Set<Int>,
        into merged: [(place: Int?, value: PropertyListValue)]
    ) -> [PropertyListValue] {
        let left = Set(merged.compactMap(\.place))
        var leading: [PropertyListValue] = []
        var following: [Int: [PropertyListValue]] = [:]
        var anchor: Int?
        for index in stored.indices {
            if left.contains(index) { anchor = index }
            guard !known.contains(index) else { continue }
            if let anchor {
                following[anchor, default: []].append(stored[index])
            } else {
                leading.append(stored[index])
            }
        }
        return merged.reduce(into: leading) { elements, element in
            elements.append(element.value)
            if let place = element.place, let followers = following[place] { elements += followers }
        }
    }
}

/// A member of a value that is set alone.
struct ValuePart {
    /// The form of its new value, by which it is found in that of the whole; nil if it is removed.
    let form: PropertyListValue?
    /// Its key.
    let name: String
    /// Its path, unless it is a member of an element.
    let path: [String]?
}

extension String {
    /// The text without underscores and case.
    fileprivate var withoutSpelling: String { filter { $0 != "_" }.lowercased() }
}

/// The places of equal values in a list, each of which is used once, in order.
private struct Places {
    private var places: [PropertyListValue: [Int]] = [:]

    init(_ values: [(value: PropertyListValue, place: Int)]) {
        for (value, place) in values.reversed() { places[value, default: []].append(place) }
    }

    /// Removes and returns the first place of a value.
    mutating func next(of value: PropertyListValue) -> Int? { places[value]?.popLast() }

    /// Removes a place.
    mutating func remove(_ place: Int, of value: PropertyListValue) { places[value]?.removeAll { $0 == place } }

    /// The places that were not used, in order.
    var all: [Int] { Array(places.values.joined()).sorted() }
}

extension PropertyListValue {
    /// The identity of an element that has one.
    fileprivate var identity: PropertyListValue? {
        if case .dictionary(let members) = self { members["id"] } else { nil }
    }

    /// Whether it has members or elements.
    fileprivate var isComposite: Bool {
        switch self {
        case .dictionary, .array: true
        default: false
        }
    }
}
