import Preferences
import PreferencesInspection
import PreferencesSchema

/// The former names of a program's preferences, under which values may still be stored.
///
/// A program reads them in each layer behind the name itself, and removes them when it stores a value under the name.
struct FormerNames {
    private var byPreference: [String: [String]] = [:]
    private var preferences: [String: String] = [:]

    /// Creates the former names that a schema declares; none without a schema.
    init(_ schema: PreferenceSchema?) {
        guard let schema else { return }
        preferences = schema.presentNames
        for (name, property) in schema.properties {
            let formerNames = property.formerNames.filter { preferences[$0] == name }
            if !formerNames.isEmpty { byPreference[name] = formerNames }
        }
    }

    var isEmpty: Bool { preferences.isEmpty }

    /// Returns the preference that has a former name.
    func preference(storedAs name: String) -> String? { preferences[name] }

    /// Returns the names under which the value of a preference may be stored, in the order in which they are read.
    func names(of name: String) -> [String] { [name] + (byPreference[name] ?? []) }

    /// Returns the value that a program reads for a name in one layer.
    func value(of name: String, in contents: [String: PropertyListValue]) -> PropertyListValue? {
        names(of: name).lazy.compactMap { contents[$0] }.first
    }

    /// Returns the values of a layer under the present names of their preferences.
    func present(_ contents: [String: PropertyListValue]) -> PresentValues {
        var values = PresentValues(contents: contents)
        for (name, formerNames) in byPreference {
            guard let stored = names(of: name).first(where: { contents[$0] != nil }) else { continue }
            for former in formerNames { values.contents[former] = nil }
            values.contents[name] = contents[stored]
            values.storedNames[name] = stored == name ? nil : stored
        }
        return values
    }

    /// Returns changes that also remove what is stored under the former names of the changed preferences.
    func storing(_ changes: [String: PropertyListValue?]) -> [String: PropertyListValue?] {
        var all = changes
        for name in changes.keys {
            for former in byPreference[name] ?? [] where !all.keys.contains(former) {
                all.updateValue(nil, forKey: former)
            }
        }
        return all
    }
}

/// Values under the present names of their preferences.
struct PresentValues {
    var contents: [String: PropertyListValue] = [:]
    /// The former names under which values are stored, by the name of the preference.
    var storedNames: [String: String] = [:]

    /// Adds the values of a layer of higher precedence.
    mutating func merge(_ layer: PresentValues) {
        for (name, value) in layer.contents { (contents[name], storedNames[name]) = (value, layer.storedNames[name]) }
    }

    /// The values without those that are stored for `nil`, in whose place a program reads its default.
    var withoutUnset: PresentValues {
        let contents = contents.compactMapValues { $0.unlessUnset }
        return PresentValues(contents: contents, storedNames: storedNames.filter { contents[$0.key] != nil })
    }

    /// Reports on standard error which values are stored under a former name.
    func reportFormerNames() {
        for name in storedNames.keys.sorted() { reportFormerName(of: name) }
    }

    func reportFormerName(of name: String) {
        guard let stored = storedNames[name] else { return }
        Terminal.warn("\"\(name)\" is stored under its former name \"\(stored)\"")
    }
}
