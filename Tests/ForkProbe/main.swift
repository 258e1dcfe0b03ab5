import Preferences

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// Forks while its stores are in use; the child uses them, and then requests them again. Its argument is the path of a file.

// Swift marks it as unavailable.
@_silgen_name("fork") func forkProcess() -> pid_t

PreferenceStore.applicationIdentifier = "fork-probe"
let path = CommandLine.arguments[1]
let store = try PreferenceStore.file(at: path)
let (volume, count) = (Preference("volume", default: 0, in: store), Preference("count", default: 0))
try volume.write(1)
try count.write(1)
let child = forkProcess()
if child == 0 {
    do { try volume.write(2) } catch { print("parent's store:", volume.value, error.code) }
    let own = try PreferenceStore.file(at: path)
    try Preference("volume", default: 0, in: own).update { $0 += 2 }
    try Preference("count", default: 0).update { $0 += 2 }
    print("new stores:", try own === PreferenceStore.file(at: path), own !== store)
    exit(0)
}
var status: Int32 = 0
waitpid(child, &status, 0)
try store.load()
try PreferenceStore.standard.load()
print("parent:", status, volume.value, count.value)
