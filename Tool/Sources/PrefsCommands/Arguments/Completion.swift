import ArgumentParser
import Preferences
import PreferencesInspection
import PreferencesSchema

/// The completions that a shell offers for the words of a command.
enum Completion {
    /// Suites, for each word.
    static let suites = CompletionKind.custom { words, index, _ in offered { try Typed(words, index).suites.names() } }

    /// Suites for the first word, then names of the suite.
    static let suiteThenNames = CompletionKind.custom { words, index, _ in
        offered { try suiteOrNames(Typed(words, index)) }
    }

    /// Suites for the first word, then names of the suite, then the choices for the name.
    static let suiteNameThenChoices = CompletionKind.custom { words, index, _ in
        offered {
            let typed = try Typed(words, index)
            guard typed.file == nil, typed.places.count == 2 else { return try suiteOrNames(typed) }
            return try choices(of: typed.places[1], in: typed.suites.place(of: typed.places[0]))
        }
    }

    private static func suiteOrNames(_ typed: Typed) throws -> [String] {
        if let file = typed.file { return try names(of: FilePlace(file: file)) }
        guard let suite = typed.places.first else { return try typed.suites.names() }
        return try names(of: typed.suites.place(of: suite))
    }

    /// Returns the choices that the schema declares for a name, strings without quotes.
    private static func choices(of name: String, in place: any Place) throws -> [String] {
        guard let property = try place.schema()?.property(of: name) else { return [] }
        let choices = property.choices ?? (property.types == ["boolean"] ? [false, true] : [])
        return try property.allowedValues(among: choices).map { try ValueText.plain($0) }
    }

    /// Adds the aliases of commands to a script that the parser has generated, which completes nothing after an alias.
    static func addingAliases(of commands: [CommandConfiguration], to script: String) -> String {
        var script = script
        for command in commands {
            for (name, alias) in command.aliases.map({ (command.commandName ?? "", $0) }) {
                // bash and zsh call a function for each of a list of names; fish compares the name.
                script = script.replacing("|help)", with: "|\(alias)|help)")
                    .replacing(
                        "\n_prefs_\(name)() {\n",
                        with: "\n_prefs_\(alias)() {\n    _prefs_\(name) \"$@\"\n}\n\n_prefs_\(name)() {\n"
                    )
                    .replacing(
                        " case '\(name)'\n",
                        with: " case '\(name)' '\(alias)'\n            set unparsed_tokens[1] '\(name)'\n"
                    )
            }
        }
        return script
    }

    /// The words before the one to complete, as in "prefs --etcd URL read --json SUITE NAME".
    private struct Typed {
        let suites: any Suites
        private(set) var file: String?
        private(set) var places: [String] = []

        init(_ words: [String], _ index: Int) throws {
            var before = words.prefix(max(0, index)).dropFirst()
            var options = EtcdOptions.take(from: &before)
            // The command.
            before = before.dropFirst()
            while let word = before.first {
                let others = EtcdOptions.take(from: &before)
                options += others
                guard others.isEmpty else { continue }
                before = before.dropFirst()
                if word == "--file" {
                    file = before.popFirst()
                } else if word.hasPrefix("--file=") {
                    file = String(word.dropFirst(7))
                } else if !word.hasPrefix("-") {
                    places.append(word)
                }
            }
            // Short, as a user is typing.
            if !options.isEmpty { options += ["--timeout", "1"] }
            suites = try EtcdOptions.parse(options).suites()
        }
    }

    private static func names(of place: any Place) throws -> [String] {
        // The commands report damage; here it is ignored.
        let schema = try place.schema()
        let formerNames = FormerNames(schema)
        let set = try place.layers { _ in }.flatMap { PlaceLayer($0, formerNames).contents.keys }
        return Set(set).union(schema?.properties.keys.map { $0 } ?? []).sorted()
    }

    /// Returns the words without those that the shell would interpret, quoted as it needs them; none if `words` throws.
    private static func offered(_ words: () throws -> [String]) -> [String] {
        do {
            let words = try words().filter { PreferenceText.printable($0) == $0 }
            // zsh and fish quote the word that they insert. In zsh a colon starts a description.
            switch CompletionShell.requesting {
            case .zsh: return words.map { $0.replacing("\\", with: "\\\\").replacing(":", with: "\\:") }
            case .fish: return words
            default: return words.filter(isHarmlessToBash)
            }
        } catch {
            // A message would disturb the user's typing; the command will report the failure.
            return []
        }
    }

    /// Returns whether bash inserts a word unchanged: `compgen -W` expands its words, so that a name such as `$(rm x)` would run as
    /// a command during completion, and inserted words aren't quoted.
    private static func isHarmlessToBash(_ word: String) -> Bool {
        word.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "._-+@%:/,".unicodeScalars.contains($0)
        }
    }
}
