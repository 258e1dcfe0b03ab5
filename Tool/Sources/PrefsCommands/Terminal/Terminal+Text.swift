import PreferencesInspection

/// Text for people, in which control characters of names, values and paths are escaped.
struct ShownText {
    fileprivate(set) var text: String

    /// Creates text with all control characters escaped except line ends and tabs, which callers escape in names and values.
    init(_ text: String) { self.text = PreferenceText.printable(text, keeping: ["\n", "\t"]) }

    /// Creates text in a colour if colours are wanted.
    init(_ text: String, _ colour: Terminal.Colour) {
        self.init(text)
        if Terminal.isColoured { self.text = "\u{1B}[\(colour.rawValue)m\(self.text)\u{1B}[0m" }
    }

    static func + (left: ShownText, right: ShownText) -> ShownText {
        var both = left
        both += right
        return both
    }

    static func += (left: inout ShownText, right: ShownText) { left.text += right.text }
}

extension Terminal {
    static func write(_ text: String) { write(ShownText(text)) }

    static func write(_ text: ShownText) {
        write(Array(text.text.utf8), to: STDOUT_FILENO)
    }

    /// Writes a path on a line of standard output, for people and programs.
    static func write(path: String) {
        write(Array((PreferenceText.printable(path) + "\n").utf8), to: STDOUT_FILENO)
    }

    /// Writes text for programs to standard output: unchanged, or with control characters escaped if that is a terminal.
    static func writeData(_ text: String) {
        if isOutput { write(text) } else { write(Array(text.utf8), to: STDOUT_FILENO) }
    }

    /// Writes a message on one line of standard error, and the usage of a command below it.
    static func warn(_ message: String, usage: String? = nil) {
        Progress.clear()
        let text = PreferenceText.printable(message) + (usage.map { "\n" + ShownText($0).text } ?? "")
        write(Array("prefs: \(text)\n".utf8), to: STDERR_FILENO)
    }

    static func end(_ failure: Failure, usage: String? = nil) -> Never {
        if !failure.message.isEmpty { warn(failure.message, usage: usage) }
        end(failure.status)
    }

    static func end(_ status: ExitStatus) -> Never {
        exit(status.rawValue)
    }

    /// Asks a yes-or-no question if a user can answer, and returns whether the answer is yes; an empty answer is `standard`.
    static func confirms(_ question: String, standard: Bool = true) -> Bool {
        guard canAsk else { return false }
        write(Array("\(question) \(standard ? "[Y/n]" : "[y/N]") ".utf8), to: STDERR_FILENO)
        guard let answer = readLine() else { return false }
        return answer.isEmpty ? standard : answer.lowercased().hasPrefix("y")
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        // A failure of standard error can't be reported; the exit code still reports the outcome.
        guard !OutputFile.write(bytes, to: descriptor), descriptor != STDERR_FILENO else { return }
        end(Failure("write", "the output", errno: errno))
    }
}
