import FoundationEssentials
import Preferences

// `operations NAME COUNT FOLDER` performs an operation COUNT times, in a function that Scripts/count-instructions finds by its name.

/// A value as programs define them, without any conformance but `Codable`.
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

@inline(never)
func countSet(_ preference: Preference<Int>, _ count: Int) {
    for number in 1...count { preference.value = number }
}

/// Opens the file anew each time, as nobody keeps the store.
@inline(never)
func countLoadThousand(_ url: URL, _ count: Int) throws -> Int {
    var sum = 0
    for _ in 0..<count { sum &+= Preference("name-0500", default: 0, in: try .file(at: url)).value }
    return sum
}

@inline(never)
func countDeclare(_ names: [String], _ store: PreferenceStore) -> [Preference<Int>] {
    names.map { Preference($0, default: 0, in: store) }
}

func run(_ name: String, _ count: Int, _ folder: URL) throws {
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
    case "set-beside-observers":
        let preference = Preference("number", default: 0, in: memory)
        let observations = (0..<1_000).map { number in
            Preference("other \(number)", default: 0, in: memory).observe { _ in preconditionFailure("nothing sets it")
            }
        }
        countSet(preference, count)
        precondition(preference.value == count)
        withExtendedLifetime(observations) {}
    case "set-in-file":
        let preference = Preference("number", default: 0, in: try .file(at: folder.appending(path: "set.jsonl")))
        preference.value = 0
        countSet(preference, count)
        precondition(preference.value == count)
    case "load-1000-names":
        let url = folder.appending(path: "load.jsonl")
        let lines = (0..<1000).map { number in
            let digits = String(number)
            return "{\"name-\(String(repeating: "0", count: 4 - digits.count))\(digits)\":\(number)}\n"
        }
        try Data(lines.joined().utf8).write(to: url)
        let sum = try countLoadThousand(url, count)
        precondition(sum == 500 * count)
    case "declare":
        let names = (0..<count).map { "name-\($0)" }
        precondition(countDeclare(names, memory).count == count)
    default:
        preconditionFailure("no operation is named \(name)")
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[2]) else { preconditionFailure("operations NAME COUNT FOLDER") }
try run(arguments[1], count, URL(filePath: arguments[3]))
