import Dispatch

/// The terminal, and the standard streams, which may be connected to it.
enum Terminal {
    /// Whether standard output is a terminal.
    static let isOutput = isatty(STDOUT_FILENO) == 1
    static let isErrorOutput = isatty(STDERR_FILENO) == 1

    /// Whether colours are wanted (https://no-color.org).
    static let isColoured = isOutput && isUnset("NO_COLOR") && variable("TERM") != "dumb"

    enum Colour: String {
        case red = "31"
        case green = "32"
        case dim = "2"
        case bold = "1"
    }

    /// Whether a user can answer a question.
    static var canAsk: Bool { isErrorOutput && isatty(STDIN_FILENO) == 1 }

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
        DispatchQueue(label: "prefs.reader").async {
            // No event is requested: poll(2) reports a closed reader anyway, Linux as an error and macOS as a hangup.
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while poll(&output, 1, -1) < 0, errno == EINTR {}
            if output.revents & Int16(POLLERR | POLLHUP) != 0 { raise(SIGPIPE) }
        }
    }

    static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    private static func isUnset(_ name: String) -> Bool {
        variable(name)?.isEmpty ?? true
    }
}
