import Preferences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Uses the standard store as its arguments say, for tests of the place that a program is started in: `set NUMBER`, `get`,
/// `path`, `quiet` (as `set`, and prints nothing);
/// `state NUMBER` sets it in the state, and `credential` prints that of its name.
@main
enum PlaceProbe {
    static func main() {
        let volume = Preference("volume", default: 0)
        let arguments = CommandLine.arguments
        do {
            switch arguments.dropFirst().first {
            case "set":
                try volume.write(Int(arguments[2]) ?? 0)
                print("set")
            case "quiet":
                _ = Preference("undecodable", default: 0).value
                try volume.write(Int(arguments[2]) ?? 0)
                try PreferenceStore.standard.flush()
            case "path": print(PreferenceStore.standard.location?.path ?? "none")
            case "state":
                let launches = Preference("launches", default: 0, in: .state)
                try launches.write(Int(arguments[2]) ?? 0)
                print(PreferenceStore.state.location?.path ?? "none")
            case "credential":
                let store = PreferenceStore.layered([.credentials, .standard])
                let token = Preference("apiToken", default: "none", in: store)
                print(token, token.value)
            default: print(volume.value)
            }
        } catch { print("\(error)") }
    }
}
