// Uses the keyring according to commands, one a line, and answers each by a line. Its arguments are the time limits of a call and of a
// prompt in milliseconds, the lifetime of cached values, and the name of the library; without any it uses `.keyring` itself.

#if os(Linux)
import FoundationEssentials
import Glibc
@testable import Preferences
@testable import PreferencesKeyring

let store: PreferenceStore
if CommandLine.arguments.count == 5 {
    let arguments = CommandLine.arguments.dropFirst()
    let numbers = arguments.compactMap { Int($0) }.map { Duration.milliseconds($0) }
    let library = arguments.last ?? ""
    store = .keyring(
        service: "probe",
        limits: KeyringLimits(
            call: numbers[0],
            prompt: numbers[1],
            timeToLive: numbers[2],
            pauseAfterFailure: numbers[2]
        ),
        library: library
    )
} else {
    store = .keyring
}

let issues = Lock<[String]>([])
store.issueHandler = { issue in issues.withLock { $0.append("\(issue)") } }

@MainActor
func answer(_ words: [String]) async -> String {
    func name() -> String { words.count > 1 ? words[1] : "" }
    func text() -> String { words.dropFirst(2).joined(separator: " ") }
    let string = Preference<String?>(words.count > 1 ? name() : "none", default: nil, in: store)
    do {
        switch words.first {
        case "set": try await string.write(text())
        case "remove": try await string.write(nil)
        case "append": try await string.update { $0 = ($0 ?? "") + text() }
        case "get": return string.value ?? "-"
        case "read": return try string.read() ?? "-"
        case "number": return "\(Preference<Int?>(name(), default: nil, in: store).value ?? -1)"
        case "load": try await store.load()
        case "names": return store.contents.keys.sorted().joined(separator: " ")
        case "issues":
            return issues.withLock { issues in
                defer { issues = [] }
                return issues.isEmpty ? "-" : issues.joined(separator: "; ")
            }
        // A slow set, and sets in a file at the same time.
        case "beside":
            let file = try PreferenceStore.file(at: URL(filePath: words[2]))
            async let slow: Void = string.write("beside")
            let count = Preference("count", default: 0, in: file)
            for _ in 0..<100 { try await count.update { $0 += 1 } }
            print("\(count.value)")
            fflush(nil)
            try await slow
        default: return "error: no such command"
        }
        return "ok"
    } catch let error as PreferenceError {
        return "\(error.code): \(error)"
    } catch {
        return "error: \(error)"
    }
}

while let line = readLine() {
    print(await answer(line.split(separator: " ").map(String.init)))
    fflush(nil)
}
#endif
