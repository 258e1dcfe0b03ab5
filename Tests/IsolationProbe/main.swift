import Preferences

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// A program that the tests of isolation start: its first argument says what it does.

let count = Preference("probe.count", default: 0)
let title = Preference("probe.title", default: "none", in: .suite("isolation-probe-suite"))

/// Writes in the shared stores and shows what it then reads.
func use() async throws {
    try await PreferenceStore.standard.flush()
    print("before:", count.isSet, title.isSet)
    count.value += 1
    title.value = "changed"
    try await PreferenceStore.standard.flush()
    try await PreferenceStore.suite("isolation-probe-suite").flush()
    print("after:", count.value, title.value)
}

/// Writes in as many scopes as there are rounds, at once.
func useScopes(_ rounds: Int) async throws {
    try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 1...rounds {
            group.addTask {
                try await PreferenceStore.withIsolatedStores {
                    count.value = number
                    title.value = "\(number)"
                    await Task.yield()
                    try await PreferenceStore.standard.transaction { $0[count] += 1 }
                    count.reset()
                    PreferenceStore.standard.removeAll()
                    try await PreferenceStore.standard.flush()
                    return count.isSet || title.value != "\(number)" ? 1 : 0
                }
            }
        }
        print("mixed up:", try await group.reduce(0, +))
    }
}

/// Shows how a program without the whole of Foundation reads texts that need it, and what is stored afterwards.
func readTexts() {
    struct Trip: Codable { var locale: Locale, zone: TimeZone }
    let store = PreferenceStore.inMemory([
        "locale": "de_AT", "zone": "Europe/Vienna", "offset": "GMT-0330", "trip": ["locale": "de_AT", "zone": "GMT"],
        "former": ["locale": ["identifier": "de_AT"], "zone": "GMT"],
    ])
    store.issueHandler = { print($0.code, $0.name ?? "") }
    let json = Data(#"{"identifier":"de_AT"}"#.utf8)
    store["json"] = .data(json)
    let locale = Preference<Locale?>("locale", in: store)
    let offset = Preference<TimeZone?>("offset", in: store)
    print(locale.value?.identifier ?? "none", Preference<TimeZone?>("zone", in: store).value?.identifier ?? "none")
    print(offset.value?.secondsFromGMT() ?? 0)
    for name in ["trip", "former"] where Preference<Trip?>(name, in: store).value != nil { print(name, "is another") }
    for coding in [PreferenceCoding<Locale?>.native, .json] {
        let locale = Preference("json", coding: coding, in: store)
        if let value = locale.value { print("json is", value.identifier) }
    }
    offset.value = offset.value
    locale.value = Locale(identifier: "en_001")
    print(store["offset"] ?? "", store["locale"] ?? "", locale.value?.identifier ?? "none")
}

/// Reads cached values; `count-reading-path.sh` finds the function by its name and counts its instructions.
@inline(never)
func readFlag(_ preference: Preference<Bool>, _ rounds: Int) -> Int {
    var found = 0
    for _ in 0..<rounds where preference.value { found &+= 1 }
    return found
}

@inline(never)
func readText(_ preference: Preference<String>, _ rounds: Int) -> Int {
    var found = 0
    for _ in 0..<rounds { found &+= preference.value.utf8.count }
    return found
}

/// Reads from a store that isolated ones may stand in for, or from one that has nothing to do with isolation.
func read(from store: PreferenceStore, _ kind: String, _ rounds: Int) {
    store["probe.flag"] = true
    store["probe.text"] = "a text that is too long to be kept inline"
    if kind == "Flag" {
        let preference = Preference("probe.flag", default: false, in: store)
        precondition(preference.value)
        precondition(readFlag(preference, rounds) == rounds)
    } else {
        let preference = Preference("probe.text", default: "", in: store)
        precondition(!preference.value.isEmpty)
        precondition(readText(preference, rounds) > rounds)
    }
}

PreferenceStore.applicationIdentifier = "isolation-probe"
let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "use":
    try await use()
case "use-files":
    PreferenceStore.isolatesTestProcesses = false
    try await use()
case "scopes":
    try await useScopes(500)
case "queue":
    try await PreferenceStore.withIsolatedStores { () async throws in
        count.value = 7
        // Inherits nothing, as a dispatch queue.
        print("shared:", await Task.detached { count.value }.value)
    }
case "texts":
    readTexts()
case "read" where arguments.count == 5:
    guard let rounds = Int(arguments[4]) else { preconditionFailure("no number: \(arguments[4])") }
    switch arguments[2] {
    case "shared":
        read(from: .standard, arguments[3], rounds)
    case "shared-after-a-scope":
        PreferenceStore.withIsolatedStores { read(from: .standard, arguments[3], 1) }
        read(from: .standard, arguments[3], rounds)
    case "own":
        read(from: .inMemory(), arguments[3], rounds)
    default:
        preconditionFailure("read shared, shared-after-a-scope or own")
    }
default:
    print("use | use-files | scopes | texts | read (shared | shared-after-a-scope | own) (Flag | Text) ROUNDS")
}
