import Glibc
@_spi(Tool) import Preferences

/// Text for people: no character of a name, a value or a path does anything in it but show.
struct ShownText {
    fileprivate(set) var text: String

    /// Escapes all control characters but line ends and tabs; what may not have these either is escaped before.
    init(_ text: String) { self.text = PreferenceText.printable(text, keeping: ["\n", "\t"]) }

    /// In a colour if colours are wanted.
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

/// Standard output and standard error.
enum Terminal {
    /// Whether a person sees the output.
    static let isOutput = isatty(STDOUT_FILENO) == 1
    static let isErrorOutput = isatty(STDERR_FILENO) == 1

    /// Whether colours are wanted (https://no-color.org).
    fileprivate static let isColoured = isOutput && isUnset("NO_COLOR") && variable("TERM") != "dumb"

    enum Colour: String {
        case red = "31"
        case green = "32"
        case dim = "2"
        case bold = "1"
    }

    static func write(_ text: String) { write(ShownText(text)) }

    static func write(_ text: ShownText) {
        write(Array(text.text.utf8), to: STDOUT_FILENO)
    }

    /// Writes what a program may read as it is, unless a person reads it.
    static func writeData(_ text: String) {
        if isOutput { write(text) } else { write(Array(text.utf8), to: STDOUT_FILENO) }
    }

    /// Writes a message on one line, and below it how a command is used.
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

    /// Whether a person can answer a question.
    static var canAsk: Bool { isErrorOutput && isatty(STDIN_FILENO) == 1 }

    /// Asks a yes-or-no question where a person can answer; no otherwise. An empty answer is `standard`.
    static func confirms(_ question: String, standard: Bool = true) -> Bool {
        guard canAsk else { return false }
        write(Array("\(question) \(standard ? "[Y/n]" : "[y/N]") ".utf8), to: STDERR_FILENO)
        guard let answer = readLine() else { return false }
        return answer.isEmpty ? standard : answer.lowercased().hasPrefix("y")
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        // Of standard error nobody can be told; the exit code still says what there was to say.
        guard !OutputFile.write(bytes, to: descriptor), descriptor != STDERR_FILENO else { return }
        end(Failure("write", "the output", errno: errno))
    }

    /// Keeps the numbers of the standard streams from the files that are opened, where a stream is closed.
    ///
    /// What is meant for standard output would be written into a preferences file otherwise. Reading and writing fail
    /// as before.
    static func reserveStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest number that is free, which is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Ends the program as soon as nobody can read its output any more, as behind `| head`.
    ///
    /// A program that waits for changes would learn of it at its next line only.
    static func endWithReader() {
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { _ in
                // No event is asked for: poll(2) tells of a reader that is gone anyway.
                var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
                while poll(&output, 1, -1) < 0, errno == EINTR {}
                if output.revents & Int16(POLLERR) != 0 { raise(SIGPIPE) }
                return nil
            },
            nil
        )
        if status == 0 { pthread_detach(thread) }
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    private static func isUnset(_ name: String) -> Bool {
        variable(name)?.isEmpty ?? true
    }
}
