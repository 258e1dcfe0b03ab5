#if canImport(Darwin) || STANDINS
/// Values of user defaults, and about how many bytes they take together.
struct UserDefaultsContents {
    private(set) var values: [String: PropertyListValue] = [:]
    private(set) var size = 0

    subscript(name: String) -> PropertyListValue? {
        get { values[name] }
        set {
            size += Self.size(of: newValue, named: name) - Self.size(of: values[name], named: name)
            values[name] = newValue
        }
    }

    /// The size once these changes are made.
    func size(with changes: [String: PropertyListValue?]) -> Int {
        changes.reduce(size) { size, change in
            size + Self.size(of: change.value, named: change.key) - Self.size(of: values[change.key], named: change.key)
        }
    }

    private static func size(of value: PropertyListValue?, named name: String) -> Int {
        value.map { 9 + name.utf8.count + $0.approximateSize } ?? 0
    }
}
#endif
