import Preferences

/// The values that aren't shown: those of secrets, which a schema marks with `"writeOnly": true`.
struct Redaction {
    /// The names of secrets; `nil` if they aren't known.
    private let secrets: Set<String>?
    private let showsSecrets: Bool

    /// Hides every value, as each might be a secret.
    static let everything = Redaction(secrets: nil, showsSecrets: false)

    private init(secrets: Set<String>?, showsSecrets: Bool) {
        self.secrets = secrets
        self.showsSecrets = showsSecrets
    }

    init(_ schema: Schema?, showsSecrets: Bool = false) {
        self.init(secrets: schema?.secretNames ?? [], showsSecrets: showsSecrets)
    }

    /// Whether no value is hidden, so that any text of the file may be shown.
    var hidesNothing: Bool { showsSecrets || secrets == [] }

    /// Returns whether a name is that of a secret, or might be.
    func isSecret(_ name: String) -> Bool { secrets?.contains(name) ?? true }

    func hides(_ name: String) -> Bool { !showsSecrets && isSecret(name) }

    /// Returns the value of a name, or a part of the value, as it is shown.
    func shown(_ value: PropertyListValue, of name: String) -> PropertyListValue {
        hides(name) ? .string(ValueText.redacted) : value
    }

    /// Returns the values of many names as they are shown.
    func shown(_ contents: [String: PropertyListValue]) -> [String: PropertyListValue] {
        hidesNothing ? contents : Dictionary(uniqueKeysWithValues: contents.map { ($0, shown($1, of: $0)) })
    }

    /// Returns the text of a value on one line.
    func line(_ value: PropertyListValue, of name: String) throws -> String {
        hides(name) ? ValueText.redacted : try ValueText.json(value)
    }

    /// Returns the reason why the page neither shows nor sets a value, or `nil` if it does both.
    func reason(_ name: String) -> String? {
        guard hides(name) else { return nil }
        guard secrets != nil else {
            return "It might be a secret, as the schema can't be read, so the page neither shows nor sets its value."
        }
        return
            "It is a secret, so the page neither shows nor sets its value. Programs keep secrets in the system's keyring."
    }

    /// Returns the JSON member `isSecret` for a name; `nil` unless the name is known to be a secret.
    func mark(_ name: String) -> PropertyListValue? { secrets?.contains(name) == true ? true : nil }

    /// Returns the values that are shown and those that are hidden.
    func split(
        _ contents: [String: PropertyListValue]
    ) -> (shown: [String: PropertyListValue], hidden: [String: PropertyListValue]) {
        (contents.filter { !hides($0.key) }, contents.filter { hides($0.key) })
    }

    /// Returns a redaction that hides the secrets of both.
    func union(_ other: Redaction) -> Redaction {
        guard let secrets, let others = other.secrets else { return .everything }
        return Redaction(secrets: secrets.union(others), showsSecrets: showsSecrets)
    }
}
