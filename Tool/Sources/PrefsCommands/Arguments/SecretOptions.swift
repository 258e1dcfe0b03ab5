import ArgumentParser
import Preferences

/// The option of the commands that show values.
struct SecretOptions: ParsableArguments {
    @Flag(help: "Also show the values of secrets, instead of \(ValueText.redacted).") var showSecrets = false

    /// Returns the redaction that hides the secrets of a place.
    ///
    /// - Throws: A `Failure` if the schema, which declares the secrets, can't be read.
    func redaction(of place: any Place) throws -> Redaction {
        do { return Redaction(try place.markingSchema(), showsSecrets: showSecrets) } catch let failure as Failure {
            if showSecrets { return Redaction(nil, showsSecrets: true) }
            throw Failure(
                failure.status,
                "\(failure.message). Until then it isn't known which values are secrets, and no value is shown; "
                    + "--show-secrets shows all"
            )
        }
    }

    /// Reports the secrets that were left out of a text on standard error, if any.
    func reportLeftOut(_ hidden: [String: PropertyListValue]) {
        guard !hidden.isEmpty else { return }
        let names = hidden.sortedByName.map { ValueText.name($0.name) }.joined(separator: ", ")
        let count = hidden.count == 1 ? "1 secret" : "\(hidden.count) secrets"
        Terminal.warn("\(count) left out: \(names). --show-secrets includes secrets")
    }

    /// Returns the redaction of a place; if its schema can't be read, reports that on standard error and hides all values.
    func safeRedaction(of place: () throws -> any Place) -> Redaction {
        do { return try redaction(of: try place()) } catch {
            Terminal.warn(Failure(error).message)
            return .everything
        }
    }
}
