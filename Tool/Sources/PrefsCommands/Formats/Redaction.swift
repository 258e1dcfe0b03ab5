import ArgumentParser
@_spi(Tool) import Preferences

/// The values that are not shown: those of secrets, which a schema marks by `"writeOnly": true`.
struct Redaction {
    /// The text in the place of a value.
    static let text = "<redacted>"

    /// The names of secrets; `nil` if it isn't known which names these are.
    private let secrets: Set<String>?
    private let showsSecrets: Bool

    /// Hides every value, as each might be a secret's.
    static let everything = Redaction(secrets: nil, showsSecrets: false)

    private init(secrets: Set<String>?, showsSecrets: Bool) {
        self.secrets = secrets
        self.showsSecrets = showsSecrets
    }

    init(_ schema: Schema?, showsSecrets: Bool = false) {
        let names = (schema?.properties ?? [:]).filter(\.value.isSecret).keys
        self.init(secrets: Set(names), showsSecrets: showsSecrets)
    }

    /// Whether there is no secret, so that any text of the file may be shown.
    var hidesNothing: Bool { showsSecrets || secrets == [] }

    /// Whether a name is a secret's, or might be.
    func isSecret(_ name: String) -> Bool { secrets?.contains(name) ?? true }

    func hides(_ name: String) -> Bool { !showsSecrets && isSecret(name) }

    /// Returns a value of a name, or of a part of it, as it is shown.
    func shown(_ value: PropertyListValue, of name: String) -> PropertyListValue {
        hides(name) ? .string(Self.text) : value
    }

    /// Returns the values of many names as they are shown.
    func shown(_ contents: [String: PropertyListValue]) -> [String: PropertyListValue] {
        hidesNothing ? contents : Dictionary(uniqueKeysWithValues: contents.map { ($0, shown($1, of: $0)) })
    }

    /// Returns the text of a value on one line.
    func line(_ value: PropertyListValue, of name: String) throws -> String {
        hides(name) ? Self.text : try ValueText.json(value)
    }

    /// Returns why the page neither shows nor sets a value; `nil` if it does.
    func reason(_ name: String) -> String? {
        guard hides(name) else { return nil }
        guard secrets != nil else {
            return "It might be a secret, as the schema can't be read, so its value is neither shown nor set here."
        }
        return
            "It is a secret, so its value is neither shown nor set here. Programs keep secrets in the system's keyring."
    }

    /// Returns the member `isSecret` of the object of a name; `nil` if the name isn't known to be a secret's.
    func mark(_ name: String) -> PropertyListValue? { secrets?.contains(name) == true ? true : nil }

    /// Splits values into those that are shown and those of secrets.
    func split(
        _ contents: [String: PropertyListValue]
    ) -> (shown: [String: PropertyListValue], hidden: [String: PropertyListValue]) {
        (contents.filter { !hides($0.key) }, contents.filter { hides($0.key) })
    }

    /// Returns what hides the secrets of both.
    func union(_ other: Redaction) -> Redaction {
        guard let secrets, let others = other.secrets else { return .everything }
        return Redaction(secrets: secrets.union(others), showsSecrets: showsSecrets)
    }
}

/// The option of the commands that show values.
struct SecretOptions: ParsableArguments {
    @Flag(help: "Also show the values of secrets, in place of \(Redaction.text).") var showSecrets = false

    /// Returns what hides the secrets of a place.
    ///
    /// - Throws: A `Failure` if a schema can't be read, without which secrets can't be told from other values.
    func redaction(of place: any Place) throws -> Redaction {
        do { return Redaction(try place.markingSchema(), showsSecrets: showSecrets) } catch let failure as Failure {
            if showSecrets { return Redaction(nil, showsSecrets: true) }
            throw Failure(
                failure.status,
                "\(failure.message). Until then secrets can't be told from other values, and none is shown; "
                    + "--show-secrets shows them all"
            )
        }
    }

    /// Writes to standard error which secrets a text doesn't have, if any.
    func reportLeftOut(_ hidden: [String: PropertyListValue]) {
        guard !hidden.isEmpty else { return }
        let names = hidden.sortedByName.map { ValueText.name($0.name) }.joined(separator: ", ")
        let count = hidden.count == 1 ? "1 secret" : "\(hidden.count) secrets"
        Terminal.warn("\(count) left out: \(names). --show-secrets leaves none out")
    }

    /// Returns what hides the secrets of a place, or all values if it can't be told which these are, which is reported.
    func safeRedaction(of place: () throws -> any Place) -> Redaction {
        do { return try redaction(of: try place()) } catch {
            Terminal.warn(Failure(error).message)
            return .everything
        }
    }
}
