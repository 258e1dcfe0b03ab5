import Preferences
import PreferencesInspection

/// Property lists, parsed by Foundation in a child process.
///
/// Foundation's parser crashes on some damaged files, which must not end this process without a message.
enum PropertyListParser {
    static func contents(of bytes: [UInt8], _ title: String) throws -> [String: PropertyListValue?] {
        guard let file = tmpfile() else { throw Failure("create", "a temporary file", errno: errno) }
        defer { fclose(file) }
        guard OutputFile.write(bytes, to: fileno(file)), lseek(fileno(file), 0, SEEK_SET) == 0 else {
            throw Failure("write", "a temporary file", errno: errno)
        }
        let (status, output) = try ChildProcess.output(
            of: ChildProcess.sibling("prefs-parse-plist"),
            input: fileno(file)
        )
        switch status {
        case .exited(0): return try PreferenceText.changes(in: output)
        case .exited(1):
            throw Failure(
                .damaged,
                "\(title) can't be read as a property list: \(String(decoding: output, as: UTF8.self))"
            )
        default:
            throw Failure(
                .damaged,
                "\(title) can't be read as a property list: it is damaged, or refers to itself, so that Foundation's parser "
                    + "crashed. Export it again; nothing was changed"
            )
        }
    }
}
