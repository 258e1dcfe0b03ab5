import Preferences

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Increments a value of a file a number of times, for ever if that is 0, and prints each result that is stored. The file is so long that it
/// is compacted again and again. Ends with 3 if the file can't be written.
@main
enum KillWriter {
    static func main() {
        let store = PreferenceStore(Layer(source: Source(file: CommandLine.arguments[1])))
        let count = Preference("count", default: 0, in: store)
        let text = String(repeating: "x", count: 500)
        var rounds = 0
        while rounds == 0 || rounds != Int(CommandLine.arguments[2]) {
            var stored = 0
            do {
                try store.transaction { transaction in
                    transaction[count] += 1
                    stored = transaction[count]
                    transaction["text"] = .string("\(text)\(stored)")
                }
            } catch PreferenceError.noSpace { exit(3) } catch { exit(4) }
            "\(stored)\n".withCString { _ = write(STDOUT_FILENO, $0, strlen($0)) }
            rounds += 1
        }
    }
}
