import Preferences
import PreferencesInspection
import PreferencesSchema

/// The declaration of a program's preferences.
typealias Schema = PreferenceSchema

extension Schema {
    /// Creates a schema from a file. Unknown keywords are ignored, also those with a leading `$`.
    init(path: String) throws {
        var status = stat()
        // Opening a FIFO would wait for a writer.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.damaged, "the schema \(path) isn't a regular file; remove it")
        }
        try self.init(text: String(decoding: try InputFile.bytes(of: path), as: UTF8.self), path: path)
    }

    /// Creates a schema from its text, as `init(path:)` does.
    ///
    /// - Parameter path: The file or key that has the text, for messages.
    init(text: String, path: String) throws {
        do throws(PreferenceError) { try self.init(text, path: path) } catch {
            throw Failure(
                .damaged,
                "the schema \(path) can't be read: \(error.message); let the program write it again"
            )
        }
    }

    /// Creates a schema from the first file that exists; `nil` if none does.
    init?(firstOf paths: [String]) throws {
        guard let path = paths.first(where: { access($0, F_OK) == 0 }) else { return nil }
        try self.init(path: path)
    }

    /// Returns the possible paths of the schema of a file: in its folder and, if it is a suite's file, those of the suite.
    static func paths(near path: String) -> [String] {
        let real = InputFile.realPath(path)
        return [path, real].flatMap { path in
            let folders = path.split(separator: "/").dropLast()
            let start = path.hasPrefix("/") ? "/" : ""
            let neighbour = start + (folders + ["preferences.schema.json"]).joined(separator: "/")
            do throws(PreferenceError) {
                // The files of a suite are in folders with its name.
                let files = try SuiteFiles(folders.last.map(String.init) ?? "")
                let own = [files.userPath, files.managedPath] + files.systemPaths
                return [neighbour] + (own.contains { InputFile.realPath($0) == real } ? files.schemaPaths : [])
            } catch {
                return [neighbour]
            }
        }
    }

    /// Returns the name of the secret whose value, or a member of it, a word of a command line names; `nil` for other words.
    func secret(in word: String) -> String? {
        secretNames.first { word == $0 || word.hasPrefix("\($0).") }
    }

    /// Returns the former name that a word of a command line is, or is a member of.
    func formerName(in word: String) -> String? {
        let isIn = { word == $0 || word.hasPrefix("\($0).") }
        return properties.keys.contains(where: isIn) ? nil : presentNames.keys.first(where: isIn)
    }

    /// The names under which a secret may be stored.
    var secretNames: Set<String> { Set(properties.filter(\.value.isSecret).keys.flatMap(FormerNames(self).names)) }

    /// Returns the declaration of the preference that has a name, or had it.
    func property(of name: String) -> Property? {
        properties[name] ?? presentNames[name].flatMap { properties[$0] }
    }

    /// Throws if a change sets a name or value that the schema doesn't allow.
    func check(_ changes: [String: PropertyListValue?], from old: [String: PropertyListValue]) throws {
        for (name, value) in changes.sorted(by: { $0.key < $1.key }) {
            if let value, value != old[name] { try check(value, for: name) }
        }
    }

    /// Throws if the schema doesn't allow the value.
    func check(_ value: PropertyListValue, for name: String) throws {
        if properties[name]?.isSecret == true {
            let word = ValueText.name(name)
            throw Failure(
                .usage,
                "\"\(name)\" is a secret according to \(path) and would be stored as plain text; nothing was changed. If the program "
                    + "keeps it in the system's keyring, store it there: `secret-tool store --label=\(word) application ID name "
                    + "\(word)`, with the program's identifier for ID; --force writes it anyway"
            )
        }
        guard let refusal = try refusal(of: value, for: name) else { return }
        let text = try refusal.text(by: path)
        guard refusal.isOfName else { throw Failure(.usage, text) }
        throw Failure(.usage, "\(text)\(text.hasSuffix("?") ? "" : ";") --force writes it anyway")
    }
}
