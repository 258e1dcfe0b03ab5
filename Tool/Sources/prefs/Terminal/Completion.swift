import ArgumentParser
@_spi(Tool) import Preferences

/// What a shell offers for the words of a command.
enum Completion {
    /// Suites alone, for each word.
    static let suites = CompletionKind.custom { _, _, _ in offered { try FileSuites().names() } }

    /// The suite first, then names of its values.
    static let suiteThenNames = CompletionKind.custom { words, index, _ in
        offered {
            // "prefs read --json SUITE NAME": what stands before the word to complete, without the command.
            var before = words.prefix(max(0, index)).dropFirst(2)
            var file: String?
            var places: [String] = []
            while let word = before.popFirst() {
                if word == "--file" {
                    file = before.popFirst()
                } else if word.hasPrefix("--file=") {
                    file = String(word.dropFirst(7))
                } else if !word.hasPrefix("-") {
                    places.append(word)
                }
            }
            if let file { return try names(of: FilePlace(file: file)) }
            guard let suite = places.first else { return try FileSuites().names() }
            return try names(of: FilePlace(suite: suite))
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
