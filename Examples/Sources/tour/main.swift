import Foundation
import Preferences
import SettingsReport

let file = Bundle.main.bundleURL.appending(path: "tour-data/preferences.jsonl")
let store = try PreferenceStore.file(at: file)
let preferences = TourPreferences(in: store)

// The tour starts itself again with this argument, so that two processes use one file.
if CommandLine.arguments.contains("--other-process") {
    preferences.theme = preferences.theme == .dark ? .light : .dark
    exit(0)
}

print("— Preferences are plain properties, and are stored between runs")
let lastLaunch = preferences.lastLaunch
try store.transaction { transaction in
    transaction[preferences.$launches] += 1
    transaction[preferences.$lastLaunch] = .now
}
print("launch \(preferences.launches), the last one: \(lastLaunch?.formatted(.iso8601) ?? "never")")

preferences.automaticallyUpdate.toggle()
preferences.window.x += 10
preferences.nickname = preferences.nickname == nil ? "Pitt" : nil
print("automatic updates: \(preferences.automaticallyUpdate), window at \(preferences.window.x)")
print("nickname: \(preferences.nickname ?? "not set")")

print("\n— An observer is notified, and a value that breaks a rule is rejected")
let volumeObservation = preferences.$volume.observe { print("volume: \($0.old) → \($0.new)") }
preferences.volume = preferences.volume == 8 ? 3 : 8
do {
    try preferences.$volume.write(11)
} catch {
    print("rejected:", error)
}

print("\n— A stored value of the wrong type is read as the default, reported once, and kept")
store.issueHandler = { print("issue:", $0) }
store["volume"] = "loud"
print("read twice: \(preferences.volume), \(preferences.volume); still stored: \(store["volume"] ?? "nothing")")
preferences.volume = 6

print("\n— Another process changes a value, and this one is notified")
if let tour = Bundle.main.executableURL {
    let isNotified = DispatchSemaphore(value: 0)
    // Of this type, the closure is called on a thread of the library, while this one waits.
    let notify: @Sendable (PreferenceChange<Theme>) -> Void = { change in
        print("theme: \(change.old) → \(change.new)")
        isNotified.signal()
    }
    let themeObservation = preferences.$theme.observe(notify)
    try Process.run(tour, arguments: ["--other-process"]).waitUntilExit()
    isNotified.wait()
    themeObservation.cancel()
}

print("\n— A report lists the preferences of a group, with source and rule")
print(settingsReport(of: preferences))

try store.flush()
print("\n— The end of the file, which is now safe from a power failure")
print(try String(contentsOf: file, encoding: .utf8).split(separator: "\n").suffix(6).joined(separator: "\n"))

print(
    """

    — Try next
    file='\(file.path)'
    swift run --package-path Examples tour        # again: it continues the count
    tail -F "$file"                               # in another terminal: each change as it happens
    jq -s add "$file"                             # the stored values
    echo '{"nickname":"Ada"}' >> "$file"          # set a preference by hand
    """
)
