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

// `operations NAME COUNT FOLDER` performs an operation COUNT times, in a function that Scripts/count-instructions finds by its name.
// `change-seen` alone is counted as a whole process, as the library's threads do the work, and `set-in-file` is counted in both ways.

/// A typical value of a program, with `Codable` as its only conformance.
struct Profile: Codable, Equatable, Sendable {
    var title = "untitled"
    var width = 800
    var height = 600
    var scale = 1.5
    var tags = ["red", "green"]
}

@inline(never)
func countGetInt(_ preference: Preference<Int>, _ count: Int) -> Int {
    var sum = 0
    for _ in 0..<count { sum &+= preference.value }
    return sum
}

@inline(never)
func countGetString(_ preference: Preference<String>, _ count: Int) -> Int {
    var sum = 0
    for _ in 0..<count { sum &+= preference.value.utf8.count }
    return sum
}

@inline(never)
func countGetCodable(_ preference: Preference<Profile>, _ count: Int) -> Int {
    var sum = 0
    for _ in 0..<count { sum &+= preference.value.width }
    return sum
}

/// Reads once, so that nothing between two reads is counted.
@inline(never)
func countReadOne(_ preference: Preference<Profile>) -> Int { preference.value.width }

@inline(never)
func countSet(_ preference: Preference<Int>, _ count: Int) {
    for number in 1...count { preference.value = number }
}

/// As Observation may track each read, each set is signalled.
@inline(never)
func countSetAndGet(_ preference: Preference<Int>, _ count: Int) {
    for number in 1...count {
        preference.value = number
        precondition(preference.value == number)
    }
}

@inline(never)
func countSetDate(_ preference: Preference<Date>, _ count: Int) {
    for number in 1...count {
        preference.value = Date(timeIntervalSinceReferenceDate: 786_000_000.125 + Double(number))
    }
}

@inline(never)
func countSetData(_ preference: Preference<Data>, _ count: Int) {
    for number in 1...count { preference.value = Data(repeating: UInt8(truncatingIfNeeded: number), count: 1024) }
}

@inline(never)
func countSetCodable(_ preference: Preference<Profile>, _ count: Int) {
    var profile = Profile()
    for number in 1...count {
        profile.width = number
        preference.value = profile
    }
}

@inline(never)
func countUpdate(_ preference: Preference<Int>, _ count: Int) throws {
    for _ in 1...count { try preference.update { $0 += 1 } }
}

/// Commits transactions; `change` is called with the number of each.
@inline(never)
func countBatch(
    _ store: PreferenceStore,
    _ count: Int,
    _ change: (inout PreferenceTransaction, Int) -> Void
) throws {
    for number in 1...count { try store.transaction { change(&$0, number) } }
}

/// Sets once, so that nothing between two sets is counted.
@inline(never)
func countOneSet(_ preference: Preference<Int>, _ number: Int) { preference.value = number }

/// Opens the file each time, as no reference keeps the store.
@inline(never)
func countLoadThousand(_ url: URL, _ count: Int) throws -> Int {
    var sum = 0
    for _ in 0..<count { sum &+= Preference("name-0500", default: 0, in: try .file(at: url)).value }
    return sum
}

/// Opens a store and reads from it as the first use of the library in the process, which has used Foundation before.
@inline(never)
func countFirstOpen(_ url: URL) throws -> (preference: Preference<Int>, value: Int) {
    let preference = Preference("name-0050", default: 0, in: try .file(at: url))
    return (preference, preference.value)
}

/// Opens, reads and closes a store as the first use of the library and of Foundation in the process.
@inline(never)
func countOpenAndClose(_ path: String) throws -> Int { try countFirstOpen(URL(filePath: path)).value }

@inline(never)
func countDeclare(_ names: [String], _ store: PreferenceStore) -> [Preference<Int>] {
    names.map { Preference($0, default: 0, in: store) }
}

/// Creates a file with names whose values are their numbers, one per line, and returns its URL.
func file(_ name: String, names count: Int, in folder: URL) throws -> URL {
    let url = folder.appending(path: name)
    let lines = (0..<count).map { "{\"\(numbered($0))\":\($0)}\n" }
    try Data(lines.joined().utf8).write(to: url)
    return url
}

func numbered(_ number: Int) -> String {
    let digits = String(number)
    return "name-\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
}

/// Appends to a file as another program does.
final class OtherWriter {
    private let descriptor: Int32

    init(_ path: String) {
        descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        precondition(descriptor >= 0, "\(path) can't be opened")
    }

    deinit { close(descriptor) }

    func set(_ name: String, _ number: Int) {
        let line = Array("{\"\(name)\":\(number)}\n".utf8)
        precondition(write(descriptor, line, line.count) == line.count, "the line can't be appended")
    }
}

/// Occupies the threads of the library, so that none reads a file or holds a store while the calling thread is counted.
func occupyPool() { for _ in 0..<16 { Pool.current.run { while true { sleep(1000) } } } }

/// A pipe over which one thread waits for another at the cost of two system calls.
struct Signal: Sendable {
    private let reading: Int32
    private let writing: Int32

    init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "no pipe can be made")
        (reading, writing) = (ends[0], ends[1])
    }

    func send() {
        var byte: UInt8 = 1
        precondition(write(writing, &byte, 1) == 1, "the pipe can't be written")
    }

    func wait() {
        var byte: UInt8 = 0
        precondition(read(reading, &byte, 1) == 1, "the pipe can't be read")
    }
}

/// Runs `body` on threads that begin together, with their numbers, and waits for their ends.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let (begin, end) = (Signal(), Signal())
    for thread in 0..<count {
        let isStarted = Pool.startThread {
            begin.wait()
            body(thread)
            end.send()
        }
        precondition(isStarted, "no thread can be started")
    }
    for _ in 0..<count { begin.send() }
    for _ in 0..<count { end.wait() }
}

/// Waits until the library's threads are idle again, so that everything they do for a change is counted. The counts of each change are
/// those from the end of one call to the end of the next.
@inline(never)
func endChange() { usleep(150_000) }

func run(_ name: String, _ count: Int, _ path: String) throws {
    if name == "first-open-and-close" {
        let file = "\(path)/first.jsonl"
        let other = OtherWriter(file)
        for number in 0..<100 { other.set(numbered(number), number) }
        let value = try countOpenAndClose(file)
        precondition(value == 50)
        return
    }
    let folder = URL(filePath: path)
    if name == "first-open" {
        let first = try countFirstOpen(file("first.jsonl", names: 100, in: folder))
        precondition(first.value == 50)
        withExtendedLifetime(first) {}
        return
    }
    let memory = PreferenceStore.inMemory(["number": 7, "text": "a text that is too long to be kept inline"])
    switch name {
    case "get-int":
        let preference = Preference("number", default: 0, in: memory)
        precondition(preference.value == 7 && countGetInt(preference, count) == 7 * count)
    case "get-string":
        let preference = Preference("text", default: "", in: memory)
        precondition(!preference.value.isEmpty && countGetString(preference, count) > count)
    case "get-codable":
        let preference = Preference("profile", default: Profile(), in: memory)
        preference.value.width = 900
        precondition(preference.value.width == 900 && countGetCodable(preference, count) == 900 * count)
    case "set-in-memory":
        let preference = Preference("number", default: 0, in: memory)
        countSet(preference, count)
        precondition(preference.value == count)
    case "set-and-get":
        let preference = Preference("number", default: 0, in: memory)
        countSetAndGet(preference, count)
        precondition(preference.value == count)
    case "set-codable":
        let preference = Preference("profile", default: Profile(), in: memory)
        countSetCodable(preference, count)
        precondition(preference.value.width == count)
    case "set-date-in-file":
        let preference = Preference(
            "date",
            default: Date.distantPast,
            in: try .file(at: folder.appending(path: "date.jsonl"))
        )
        countSetDate(preference, count)
        precondition(preference.value > .distantPast)
    case "set-data-in-file":
        let preference = Preference("data", default: Data(), in: try .file(at: folder.appending(path: "data.jsonl")))
        countSetData(preference, count)
        precondition(preference.value.count == 1024)
    case "decode-codable":
        let preference = Preference("profile", default: Profile(), in: memory)
        preference.value.width = 900
        guard case .dictionary(var members) = memory["profile"] else { preconditionFailure("nothing was set") }
        for number in 1...count {
            members["width"] = .integer(Int64(number))
            memory["profile"] = .dictionary(members)
            precondition(countReadOne(preference) == number)
        }
    case "set-codable-in-file":
        let preference = Preference(
            "profile",
            default: Profile(),
            in: try .file(at: folder.appending(path: "set-codable.jsonl"))
        )
        preference.value = Profile()
        countSetCodable(preference, count)
        precondition(preference.value.width == count)
    case "set-from-8-threads":
        let preferences = (0..<8).map { Preference("number \($0)", default: 0, in: memory) }
        onThreads(preferences.count) { countSet(preferences[$0], count / 8) }
        precondition(preferences.allSatisfy { $0.value == count / 8 })
    case "set-observed":
        let preference = Preference("number", default: 0, in: memory)
        let observation = preference.observe { precondition($0.new > 0) }
        countSet(preference, count)
        precondition(preference.value == count)
        withExtendedLifetime(observation) {}
    case "update-in-memory":
        let preference = Preference("number", default: 0, in: memory)
        preference.value = 0
        try countUpdate(preference, count)
        precondition(preference.value == count)
    case "update-in-file":
        let preference = Preference("number", default: 0, in: try .file(at: folder.appending(path: "update.jsonl")))
        preference.value = 0
        try countUpdate(preference, count)
        precondition(preference.value == count)
    case "set-with-observers":
        let preference = Preference("number", default: 0, in: memory)
        let observations = (0..<1_000).map { number in
            Preference("other \(number)", default: 0, in: memory).observe { _ in preconditionFailure("nothing sets it")
            }
        }
        countSet(preference, count)
        precondition(preference.value == count)
        withExtendedLifetime(observations) {}
    case "set-codable-with-8-observers":
        let preference = Preference("profile", default: Profile(), in: memory)
        preference.value = Profile()
        let observations = (0..<8).map { _ in preference.observe { precondition($0.new.width > 0) } }
        countSetCodable(preference, count)
        precondition(preference.value.width == count)
        withExtendedLifetime(observations) {}
    case "set-in-file":
        let preference = Preference("number", default: 0, in: try .file(at: folder.appending(path: "set.jsonl")))
        preference.value = 0
        countSet(preference, count)
        precondition(preference.value == count)
    case "batch-100":
        let store = try PreferenceStore.file(at: folder.appending(path: "batch.jsonl"))
        let names = (0..<100).map(numbered)
        let change = { (transaction: inout PreferenceTransaction, number: Int) in
            for name in names { transaction[name] = .integer(Int64(number)) }
        }
        try countBatch(store, 1, change)
        try countBatch(store, count, change)
        precondition(Preference(names[99], default: 0, in: store).value == count)
    case "transaction-100":
        let store = try PreferenceStore.file(at: folder.appending(path: "transaction.jsonl"))
        let preferences = (0..<100).map { Preference(numbered($0), default: 0, in: store) }
        let change = { (transaction: inout PreferenceTransaction, number: Int) in
            for preference in preferences { transaction[preference] = number }
        }
        try countBatch(store, 1, change)
        try countBatch(store, count, change)
        precondition(preferences.allSatisfy { $0.value == count })
    case "set-after-external":
        let url = try file("external.jsonl", names: 100, in: folder)
        let store = try PreferenceStore.file(at: url)
        let (preference, other) = (Preference(numbered(7), default: 0, in: store), OtherWriter(url.path))
        let external = Preference(numbered(8), default: 0, in: store)
        // One would sometimes read the other program's line first.
        occupyPool()
        for number in 1...count {
            other.set(external.name, -number)
            countOneSet(preference, -number)
        }
        precondition(preference.value == -count && external.value == -count)
    case "first-set":
        let other = Preference("number", default: 0, in: try .file(at: folder.appending(path: "other.jsonl")))
        for number in 1...count {
            let url = try file("first-\(number).jsonl", names: 10_000, in: folder)
            let preference = Preference(numbered(7), default: 0, in: try .file(at: url))
            precondition(preference.value == 7)
            // The thread that syncs files waits for the next one, so that the counted set never has to start it.
            other.value = number
            countOneSet(preference, -number)
            precondition(preference.value == -number)
            endChange()
        }
    case "change-seen":
        let url = try file("change.jsonl", names: 1000, in: folder)
        let preference = Preference(numbered(7), default: 0, in: try .file(at: url))
        let (other, seen) = (OtherWriter(url.path), Signal())
        let observation = preference.observe { _ in seen.send() }
        for number in 1...count {
            other.set(preference.name, -number)
            seen.wait()
            endChange()
        }
        precondition(preference.value == -count)
        withExtendedLifetime(observation) {}
    case "load-1000-names":
        let url = try file("load.jsonl", names: 1000, in: folder)
        occupyPool()
        let sum = try countLoadThousand(url, count)
        precondition(sum == 500 * count)
    case "process":
        try printProcess(count, folder)
    case "memory":
        try printMemory(count, folder)
    case "declare":
        let names = (0..<count).map { "name-\($0)" }
        precondition(countDeclare(names, memory).count == count)
    default:
        preconditionFailure("no operation is named \(name)")
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[2]) else { preconditionFailure("operations NAME COUNT FOLDER") }
try run(arguments[1], count, arguments[3])
