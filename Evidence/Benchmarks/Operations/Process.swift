import Preferences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

// Figures of the process and the machine, which `Scripts/count-instructions --process` prints: too noisy for a limit.

/// Prints the processor time and context switches of sets in a file, and what a second thread adds to sets in memory.
func printProcess(_ count: Int, _ folder: URL) throws {
    let preference = Preference("number", default: 0, in: try .file(at: folder.appending(path: "process.jsonl")))
    preference.value = 0
    let before = used()
    countSet(preference, count)
    let after = used()
    let seconds = ((after.seconds - before.seconds) * 100).rounded() / 100
    let switches = after.switches - before.switches
    print("\(count) sets in a file: \(seconds) s of processor time, \(switches) context switches")

    printRates("unrelated stores") { _, _ in .inMemory() }
    printRates("scopes of one store") { base, thread in base.scoped(prefix: "s\(thread).") }
    printRates("layers over one base") { base, _ in .layered([.inMemory(), base]) }
}

/// Prints the memory that each name of a file takes once it is loaded, in a process that has used another file.
func printMemory(_ count: Int, _ folder: URL) throws {
    let url = folder.appending(path: "names.jsonl")
    let other = OtherWriter(url.path)
    for number in 0..<count { other.set(numbered(number), number) }
    let first = try PreferenceStore.file(at: folder.appending(path: "first.jsonl"))
    precondition(first["name-0007"] == nil)
    let before = try residentBytes()
    let store = try PreferenceStore.file(at: url)
    precondition(store["name-0007"] == 7)
    print("a loaded name: \(try (residentBytes() - before) / count) bytes")
    withExtendedLifetime((first, store)) {}
}

/// Returns the processor seconds and context switches of all threads.
private func used() -> (seconds: Double, switches: Int) {
    var usage = rusage()
    // RUSAGE_SELF, which is a different type on each system.
    getrusage(0, &usage)
    let microseconds = Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + microseconds / 1_000_000
    return (seconds, Int(usage.ru_nvcsw + usage.ru_nivcsw))
}

/// Prints the sets a second of one thread and of two, the better of five rounds, and their ratio.
private func printRates(_ name: String, _ makeStore: (PreferenceStore, Int) -> PreferenceStore) {
    let sets = 300_000
    var best = [0.0, 0.0]
    for round in 0..<10 {
        let threads = round % 2 + 1
        let base = PreferenceStore.inMemory()
        let preferences = (0..<threads).map { Preference("own", default: 0, in: makeStore(base, $0)) }
        let time = ContinuousClock().measure { onThreads(threads) { countSet(preferences[$0], sets) } }
        best[threads - 1] = max(best[threads - 1], Double(threads * sets) / (time / .seconds(1)))
    }
    let ratio = (best[1] / best[0] * 100).rounded() / 100
    print("2 threads / 1, \(name): \(ratio) (\(Int(best[1])) and \(Int(best[0])) sets a second)")
}

private func residentBytes() throws -> Int {
    let text = try String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8)
    return (Int(text.split(separator: " ")[1]) ?? 0) * Int(getpagesize())
}
