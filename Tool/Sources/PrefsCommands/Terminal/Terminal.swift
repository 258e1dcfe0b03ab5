import Glibc
@_spi(Tool) import Preferences

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

/// Standard output and standard error.
enum Terminal {
    /// Whether standard output is a terminal.
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

    /// Whether a user can answer a question.
    static var canAsk: Bool { isErrorOutput && isatty(STDIN_FILENO) == 1 }

    /// Asks a yes-or-no question if a user can answer, and returns whether the answer is yes; an empty answer is `standard`.
    static func confirms(_ question: String, standard: Bool = true) -> Bool {
        guard canAsk else { return false }
        write(Array("\(question) \(standard ? "[Y/n]" : "[y/N]") ".utf8), to: STDERR_FILENO)
        guard let answer = readLine() else { return false }
        return answer.isEmpty ? standard : answer.lowercased().hasPrefix("y")
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        // A failure of standard error can't be reported; the exit code still reports the outcome.
        guard !OutputFile.write(bytes, to: descriptor), descriptor != STDERR_FILENO else { return }
        end(Failure("write", "the output", errno: errno))
    }

    /// Opens `/dev/null` for each standard stream that is closed, so that no other file gets its descriptor.
    ///
    /// Otherwise output could be written into a preferences file. Reading standard input and writing output still fail.
    static func reserveStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // open(2) returns the lowest free descriptor, which is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Ends the program as soon as the reader of its output is gone, as with `| head`.
    ///
    /// A program that waits for changes would notice only when it writes its next line.
    static func endWithReader() {
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { _ in
                // No event is requested: poll(2) reports a closed reader anyway.
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
