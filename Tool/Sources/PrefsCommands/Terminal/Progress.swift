import Dispatch
import PreferencesInspection
import Synchronization

/// A line on the terminal with the progress of a long operation, shown after half a second.
struct Progress: ~Copyable {
    private struct State {
        var isRunning = false
        var isShown = false
    }

    /// Held while the line is written or cleared.
    private static let state = Mutex(State())

    /// Creates the line of an operation, with the bytes that this process reads and writes; only one is shown at a time.
    init(_ title: String) {
        guard Terminal.isErrorOutput, !Self.begin() else { return }
        let title = PreferenceText.printable(title)
        DispatchQueue(label: "prefs.progress").async {
            usleep(500_000)
            while Progress.show(title) { usleep(200_000) }
        }
    }

    deinit {
        Self.state.withLock { $0.isRunning = false }
        Self.clear()
    }

    /// Returns whether the progress of another operation is shown already.
    private static func begin() -> Bool {
        state.withLock { state in
            defer { state.isRunning = true }
            return state.isRunning
        }
    }

    /// Clears the line before other text is written to the terminal.
    static func clear() {
        state.withLock { state in
            if state.isShown { write("") }
            state.isShown = false
        }
    }

    /// Writes the line; returns false if the operation has ended.
    private static func show(_ title: String) -> Bool {
        state.withLock { state in
            guard state.isRunning else { return false }
            write("\(title)…\(transferred())")
            state.isShown = true
            return true
        }
    }

    /// Replaces the line with a text.
    private static func write(_ text: String) {
        // A failure of standard error can't be reported.
        _ = OutputFile.write(Array("\r\u{1B}[K\(text)".utf8), to: STDERR_FILENO)
    }

    /// Returns the bytes that this process has read and written, by the kernel's counters (proc(5), `/proc/pid/io`).
    private static func transferred() -> String {
        guard let file = fopen("/proc/self/io", "r") else { return "" }
        defer { fclose(file) }
        var (read, written) = (0 as UInt64, 0 as UInt64)
        var line = [CChar](repeating: 0, count: 128)
        while fgets(&line, Int32(line.count), file) != nil {
            let parts = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
                .split(whereSeparator: { ": \n".contains($0) })
            guard parts.count == 2, let count = UInt64(parts[1]) else { continue }
            if parts[0] == "rchar" { read = count }
            if parts[0] == "wchar" { written = count }
        }
        return " \(read >> 20) MB read, \(written >> 20) MB written"
    }
}
