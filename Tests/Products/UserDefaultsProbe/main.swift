import Foundation
import Preferences
import PreferencesFoundation

// A program that the tests of the import start, with a configuration folder of a test's own: its words are done in turn.

let urls: [String: URL] = [
    "url.space": URL(fileURLWithPath: "/tmp/a b%20c#d?e"),
    "url.tilde": URL(fileURLWithPath: "/tmp/~/x"),
    "url.relative": URL(fileURLWithPath: "rel", relativeTo: URL(fileURLWithPath: "/tmp/base/")),
    "url.umlaut": URL(fileURLWithPath: "/tmp/ä"),
]

/// Sets values as an older version of a program did.
func set(_ defaults: UserDefaults) {
    defaults.set(true, forKey: "bool")
    defaults.set(1, forKey: "int")
    defaults.set(Int64.min, forKey: "least")
    defaults.set(UInt64.max, forKey: "greatest")
    defaults.set(0.1, forKey: "real")
    defaults.set(2.0, forKey: "whole")
    defaults.set(Float(0.1), forKey: "float")
    defaults.set(Double.infinity, forKey: "infinity")
    defaults.set("text", forKey: "text")
    defaults.set(Data([0, 255]), forKey: "data")
    defaults.set(Date(timeIntervalSinceReferenceDate: 817_682_400), forKey: "date")
    defaults.set(["a", 1, true, 1.5] as [Any], forKey: "list")
    defaults.set(
        ["list": [Date(timeIntervalSinceReferenceDate: 5)], "map": ["k": false]] as [String: Any],
        forKey: "nested"
    )
    for (name, url) in urls { defaults.set(url, forKey: name) }
    defaults.set(URL(string: "https://example.com/a%20b?c#d"), forKey: "web")
    defaults.register(defaults: ["registered": 1])
}

func show(_ store: PreferenceStore) {
    for name in store.names { print("\(name) = \(store[name].map { "\($0)" } ?? "nil")") }
}

/// An administrator's values.
final class Policy: PreferenceBackend {
    let place = "the policy"

    func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] {
        [StoredChange("text", "managed"), StoredChange("int", 9)]
    }

    func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }
    func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {}
}

let store = PreferenceStore.standard
var words = CommandLine.arguments.dropFirst()
while let word = words.popFirst() {
    switch word {
    case "set": set(.standard)
    case "synchronize": UserDefaults.standard.synchronize()
    case "set-suite":
        UserDefaults(suiteName: "com.example.suite")?.set(3, forKey: "x")
        UserDefaults(suiteName: "com.example.suite")?.synchronize()
    case "import": print("imported", try store.importUserDefaults().joined(separator: " "))
    case "import-suite":
        print("imported", try store.importUserDefaults(.standard, suite: "com.example.suite").joined(separator: " "))
    case "import-managed":
        let managed = PreferenceStore(backend: Policy(), name: "policy", isReadOnly: true, isManaged: true)
        print("imported", try PreferenceStore.layered([managed, store]).importUserDefaults().joined(separator: " "))
    case "import-nameless":
        do { try store.importUserDefaults(UserDefaults(suiteName: "com.example.suite") ?? .standard) } catch {
            print(error)
        }
    case "write": store[words.removeFirst()] = .string("mine")
    case "reset": store[words.removeFirst()] = nil
    case "show": show(store)
    case "urls":
        for (name, url) in urls where Preference<URL?>(name, in: store).value != url.absoluteURL {
            print(name, "differs")
        }
        for name in urls.keys where UserDefaults.standard.url(forKey: name) != Preference<URL?>(name, in: store).value {
            print(name, "is another for Foundation")
        }
    // Arguments that UserDefaults reads.
    default: break
    }
}
