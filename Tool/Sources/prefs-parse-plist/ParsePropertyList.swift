import Foundation
@_spi(Tool) import Preferences
@_spi(Tool) import PreferencesFoundation

/// Reads a property list from standard input and writes it as a line of a preferences file; part of `prefs import`.
///
/// Ends with 1 and a reason on standard output where the list can't be read; where it is damaged, perhaps by a signal.
@main
enum ParsePropertyList {
    static func main() {
        // A crash is an answer here, and should leave no file behind.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // A list of some bytes may refer to itself, so that it has no end or exponentially many parts.
        var time = rlimit(rlim_cur: 10, rlim_max: 10)
        setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &time)
        var memory = rlimit(rlim_cur: 2 << 30, rlim_max: 2 << 30)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &memory)
        do {
            let data = try FileHandle.standardInput.readToEnd() ?? Data()
            let list = try PropertyListSerialization.propertyList(from: data, format: nil)
            guard case .dictionary(let contents) = try PropertyListValue(propertyListObject: list) else {
                throw PreferencesError(.unreadable, "its root is no dictionary of names")
            }
            try FileHandle.standardOutput.write(contentsOf: PreferenceText.line(contents.mapValues { $0 }))
        } catch {
            print(
                (error as? PreferencesError)?.description ?? (error as NSError).userInfo[NSDebugDescriptionErrorKey]
                    ?? error,
                terminator: ""
            )
            exit(1)
        }
    }
}
