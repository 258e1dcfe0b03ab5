/// A backend that can't list what it holds, or holds more than the store's own names, such as user defaults.
///
/// Its `load` need not tell of any name; `refresh` tells of names that were discovered.
protocol DiscoveringBackend: PreferenceBackend {
    /// What is stored under a name that is in use from now on; nil means absent.
    ///
    /// Called once for each name, after `load`, before the name is first read, set or observed, and never at the same
    /// time as `refresh` and `apply`. Nobody has read the name before, so its value is no change.
    func discover(_ name: String) -> PropertyListValue?
}

extension DiscoveringBackend {
    func values(under names: Set<String>) -> [String: PropertyListValue] {
        var values: [String: PropertyListValue] = [:]
        for name in names { values[name] = discover(name) }
        return values
    }
}
