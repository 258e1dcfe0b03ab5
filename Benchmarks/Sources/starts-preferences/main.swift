import FoundationEssentials
import Preferences

// What a program does that keeps one preference in a file.
let store = try PreferenceStore.file(at: URL(filePath: CommandLine.arguments[1]))
let volume = Preference("volume", default: 0, in: store)
print(volume.value)
