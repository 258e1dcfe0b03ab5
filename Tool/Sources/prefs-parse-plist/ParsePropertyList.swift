import Foundation
import Preferences
import PreferencesFoundation
import PreferencesInspection

/// The program that reads a property list from standard input and writes it as a line of a preferences file; part of `prefs import`.
///
/// Ends with 1 and a reason on standard output if the list can't be read, or is killed by a signal if the parser crashes.
@main
enum ParsePropertyList {
    static func main() {
        // A crash is an expected outcome, and should not leave a core file behind.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(resource(RLIMIT_CORE), &none)
        // A small list may refer to itself, so that it has no end or exponentially many parts.
        var time = rlimit(rlim_cur: 10, rlim_max: 10)
        setrlimit(resource(RLIMIT_CPU), &time)
        var memory = rlimit(rlim_cur: 1 << 30, rlim_max: 1 << 30)
        setrlimit(resource(RLIMIT_AS), &memory)
        do {
            let data = try FileHandle.standardInput.readToEnd() ?? Data()
            if var list = BinaryPropertyList(Array(data)), list.isTooLarge() {
                throw PreferenceError(
                    .tooLarge,
                    "it refers to the same objects so often that it is larger than any that can be stored"
                )
            }
            let list = try PropertyListSerialization.propertyList(from: data, format: nil)
            guard case .dictionary(let contents) = try PropertyListValue(propertyListObject: list) else {
                throw PreferenceError(.unreadable, "its root isn't a dictionary")
            }
            try FileHandle.standardOutput.write(contentsOf: PreferenceText.line(contents.mapValues { $0 }))
        } catch {
            print(
                (error as? PreferenceError)?.description ?? (error as NSError).userInfo[NSDebugDescriptionErrorKey]
                    ?? error,
                terminator: ""
            )
            exit(1)
        }
    }
}

// The C library of GNU has a type for the names of limits, and another for the argument.
#if canImport(Glibc)
private func resource(_ name: __rlimit_resource) -> __rlimit_resource_t { __rlimit_resource_t(name.rawValue) }
#else
private func resource(_ name: Int32) -> Int32 { name }
#endif
