import DurableFile
import Preferences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sets a value of the file's store, and is killed in the next instruction.
@main
enum KillWriter {
    static func main() throws {
        let count = Preference("count", default: 0, in: try .file(at: URL(filePath: CommandLine.arguments[1])))
        count.value += 1
        kill(getpid(), SIGKILL)
    }
}
