import Preferences
import PreferencesEditing
import PreferencesValidation

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct Preferences: PreferenceGroup {
    @Preference("theme") var theme = "light"
    @Preference("count") var count = 0
    @Preference("nickname") var nickname: String?
    init() {}
}

let constant = Preferences()
enum Prefs { static let general = Preferences() }

// Setting needs no mutable group: it works through a namespace and through a constant.
func use(_ preferences: Preferences) async throws {
    Prefs.general.theme = "dark"
    constant.theme = "dark"
    preferences.count += 1
    preferences.nickname = nil
    preferences.$theme.value = "light"

    // Reading distinguishes absent from unreadable, and never returns a doubly optional value.
    let nickname: String? = try preferences.$nickname.read()
    let count: Int? = try preferences.$count.read()
    _ = (nickname, count)

    // Errors are typed, so that a catch needs no cast.
    do {
        try await preferences.$count.write(1)
    } catch {
        let code: PreferenceError.Code = error.code
        _ = code
    }

    let old = try await preferences.$count.update { count in
        defer { count += 1 }
        return count
    }
    _ = old as Int

    try await preferences.$count.store.transaction { transaction in
        transaction[preferences.$theme] = "dark"
        transaction[preferences.$count] += 1
        transaction.reset(preferences.$nickname)
        transaction["raw"] = 1
    }

    for await (theme, count) in PreferenceStore.updates(of: preferences.$theme, preferences.$count) {
        _ = (theme as String, count as Int)
        break
    }
    let observation = preferences.$theme.observe { change in _ = (change.old, change.new, change.origin) }
    observation.cancel()
    try await preferences.$count.store.flush()
}

// Places of a service.
func useServices(_ url: URL) {
    let store: PreferenceStore = .layered([.credentials, .settingsFile(at: url), .standard])
    let frame = Preference("frame", default: 0, in: .state)
    let state: PreferenceStore = .state
    _ = (store, frame, state)
}

// Without `await`, as in `App.init()`, these block.
func start(_ preferences: Preferences, _ store: PreferenceStore) throws {
    func load() throws(PreferenceError) {
        try store.load()
        try store.flush()
    }
    let change = try store.migrate(to: 1, steps: [.init(1) { $0["raw"] = nil }], dryRun: true)
    _ = change as PreferenceStoreChange
    try load()
    try store.migrate(to: 1, steps: [])
}

// A program that refuses a wrong configuration, stays with the last valid one, and edits several values as one.
func startRight(_ preferences: Preferences, _ store: PreferenceStore) throws {
    do throws(PreferenceProblems) {
        try preferences.check()
        let validated: PreferenceStore = try .validated(Preferences.self, over: store)
        _ = Preferences(in: validated)
    } catch {
        let problems: [PreferenceError] = error.problems
        _ = (problems.count == error.count, error[0].code, error.description, error.map(\.message))
    }
    let problems: [PreferenceError] = preferences.problems
    let draft: PreferenceDraft = store.draft()
    Preferences(in: draft.store).count = problems.count
    let changes: PreferenceStoreChange = draft.changes
    func apply() throws(PreferenceError) {
        if draft.hasChanges, !changes.names.isEmpty { try draft.apply() } else { draft.revert() }
    }
    try apply()
    let steps: [PreferenceMigration] = [
        .init(1) { $0.move(from: "colour", to: "color") },
        .init(2, onNewStores: true) { values in
            values[preferences.$count]? *= 10
            let (count, nickname): (Int?, String?) = (values[preferences.$count], values[preferences.$nickname])
            values[preferences.$nickname] = nickname.map { "\($0) \(count ?? 0)" }
            try values.modify(preferences.$theme) { theme in
                if theme.isEmpty { throw PreferenceError(.invalid, "empty") }
            }
            values["raw"] = values.names.isEmpty ? nil : .integer(1)
        },
    ]
    try store.migrate(to: 2, steps: steps)
}

// With `await`, the same names suspend the task.
func startInTask(_ preferences: Preferences, _ store: PreferenceStore) async throws {
    try await store.load()
    try await store.flush()
    try await store.migrate(to: 1, steps: [])
    try await store.draft().apply()
}

// An error's code can be caught by its name, with a typed and an untyped error.
func caught(_ preferences: Preferences) throws {
    func set() throws(PreferenceError) {
        do throws(PreferenceError) {
            try preferences.$count.write(1)
        } catch PreferenceError.readOnly {
            return
        }
    }
    do {
        try set()
        try preferences.$count.update { $0 += 1 }
    } catch PreferenceError.managed, PreferenceError.invalid {
        return
    } catch let error as PreferenceError where error.code == .conflict {
        _ = error.errorDescription as String?
    }
    do throws(PreferenceError) {
        try preferences.$count.write(1)
    } catch .busy {
        return
    } catch {
        switch error.code {
        case .readOnly: break
        default: throw error
        }
    }
}

// Data of older versions is migrated in one call.
func move(_ preferences: Preferences, from old: Preference<Int>) async throws {
    preferences.$count.migrate(from: old)
    preferences.$theme.migrate(from: old) { $0 == 0 ? "light" : "dark" }
    try await old.store.migrate(to: 1, steps: [.init(1) { transaction in transaction["raw"] = nil }])
}

let layered = PreferenceStore.layered([.arguments, .environment(prefix: "APP"), .managed, .suite("app"), .system])
let given = PreferenceStore.layered([
    .arguments(["--volume", "7"]), .environment(["APP_A": "1"], prefix: "APP"), .standard,
])

// A test or a preview can use a separate store for a group and for one preference.
let preview = Preferences(in: .inMemory(["theme": "dark", "count": 3]))
let mock = preview.$theme.bound(to: .inMemory())

// The list for a settings page; preferences with the same name and store are equal.
func list(_ preferences: Preferences) -> [String] {
    preferences.reset()
    let same = preferences.preferences.first == AnyPreference(preferences.$theme)
    let secrets = preferences.preferences.filter(\.isSecret).map(\.name) + [preferences.$theme.isSecret ? "theme" : ""]
    return secrets
        + preferences.preferences.map { "\($0) \($0.rules) \($0.declaredDescription ?? "") \($0.valueType) \(same)" }
}

struct Row: Hashable {
    @Preference("theme") var theme = "light"
}

// Scopes by a prefix, a store over a backend, and a reset of several preferences.
func places(_ store: PreferenceStore, _ backend: some PreferenceBackend, _ preferences: Preferences) throws {
    let account = Preferences(in: store.scoped(prefix: "account.42."))
    let remote = PreferenceStore(backend: backend, name: "remote", isReadOnly: true, isManaged: false, isSecret: true)
    store["raw"] = 1
    try store.write("text", for: "raw")
    store.issueHandler = { error in print(error) }
    store.issueHandler = nil
    store.reset(preferences.$theme, preferences.$count)
    _ = (account, remote, store.location)
}

struct Frame: Codable { var width = 0, height = 0 }

func members(_ frame: Preference<Frame>) throws {
    frame[\.width].value += 1
    try frame[\.height].update { $0 += 1 }
    let observation = frame[\.width].observe(at: .willSet, includingCurrent: true) { change in print(change.new) }
    observation.cancel()
}
