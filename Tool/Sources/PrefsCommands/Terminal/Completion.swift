import ArgumentParser
@_spi(Tool) import Preferences

/// What a shell offers for the words of a command.
enum Completion {
    /// Suites alone, for each word.
    static let suites = CompletionKind.custom { words, index, _ in offered { try Typed(words, index).suites.names() } }

    /// The suite first, then names of its values.
    static let suiteThenNames = CompletionKind.custom { words, index, _ in
        offered { try suiteOrNames(Typed(words, index)) }
    }

    /// The suite first, then a name of its values, then what that may be set to.
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

    /// The choices that a schema has for a name, text without quotes.
    private static func choices(of name: String, in place: any Place) throws -> [String] {
        let property = try place.schema()?.properties[name]
        let choices = property?.choices ?? (property?.types == ["boolean"] ? [false, true] : [])
        return try choices.map { try ValueText.plain($0) }
    }

    /// Adds the aliases of commands to a script that the parser has generated, which completes nothing behind one.
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

    /// What stands before the word to complete, as in "prefs --etcd URL read --json SUITE NAME".
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
            // A person who types doesn't wait for long.
            if !options.isEmpty { options += ["--timeout", "1"] }
            suites = try EtcdOptions.parse(options).suites()
        }
    }

    private static func names(of place: any Place) throws -> [String] {
        // What a file holds that can't be read is told of by the commands.
        let set = try place.layers { _ in }.flatMap { $0.contents.keys }
        return Set(set).union(try place.schema()?.properties.keys.map { $0 } ?? []).sorted()
    }

    /// One a line, without those that a shell would take for something else.
    private static func offered(_ words: () throws -> [String]) -> [String] {
        do {
            let words = try words().filter { PreferenceText.printable($0) == $0 }
            // zsh and fish quote what they insert. For zsh a description follows a colon.
            switch CompletionShell.requesting {
            case .zsh: return words.map { $0.replacing("\\", with: "\\\\").replacing(":", with: "\\:") }
            case .fish: return words
            default: return words.filter(isHarmlessToBash)
            }
        } catch {
            // A person who is typing is not told; the command will say what is wrong.
            return []
        }
    }

    /// Whether bash takes a word for itself: `compgen -W` expands its words, so that a name such as `$(rm x)` would be a command
    /// that runs while a person types, and what is inserted isn't quoted.
    private static func isHarmlessToBash(_ word: String) -> Bool {
        word.unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || "._-+@%:/,".unicodeScalars.contains($0)
        }
    }
}
