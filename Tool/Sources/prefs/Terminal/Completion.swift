import ArgumentParser
@_spi(Tool) import Preferences

/// What a shell offers for the words of a command.
enum Completion {
    /// Suites alone, for each word.
    static let suites = CompletionKind.custom { words, index, _ in offered { try Typed(words, index).suites.names() } }

    /// The suite first, then names of its values.
    static let suiteThenNames = CompletionKind.custom { words, index, _ in
        offered {
            let typed = try Typed(words, index)
            if let file = typed.file { return try names(of: FilePlace(file: file)) }
            guard let suite = typed.places.first else { return try typed.suites.names() }
            return try names(of: typed.suites.place(of: suite))
        }
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
