import FoundationEssentials
import Preferences

// A program that keeps a preference in a file: `starts-preferences FILE NAME`. With one more argument, it also prints
// the seconds from the call that opens the store to the value.
let arguments = CommandLine.arguments
let start = ContinuousClock.now
let store = try PreferenceStore.file(at: URL(filePath: arguments[1]))
let value = Preference(arguments[2], default: -1, in: store).value
if arguments.count > 3 {
    print((ContinuousClock.now - start) / .seconds(1), value)
} else {
    print(value)
}
