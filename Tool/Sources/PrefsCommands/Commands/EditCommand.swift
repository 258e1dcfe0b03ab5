import ArgumentParser
import Preferences
import PreferencesInspection

struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change values in your editor, as one change.",
        usage: "prefs edit [<suite> | --file <path>] [--force] [--show-secrets]",
        discussion: """
            Opens the values of the user's file as JSON in $VISUAL or $EDITOR, else in vi. Your changes are checked and then \
            set. Changes that programs make in between are kept; if one of them changes a name that you changed, too, your \
            changes are rejected. Text that can't be read is never stored: you can edit it again, and it is kept. Secrets \
            are left out of the text and aren't changed, unless --show-secrets is given.
            """
    )

    @OptionGroup var options: PlaceOptions
    @OptionGroup var secrets: SecretOptions
    @Flag(help: "Also set values that the program's schema doesn't allow.") var force = false
    @Argument(help: "The suite unless --file is given.", completion: Completion.suites) var words: [String] = []

    func run() throws {
        var words = words[...]
        let place = try options.place(&words)
        try words.end()
        if force { place.ignoreSchema() }
        let stores = try place.open()
        let old = stores.ownContents
        let (shown, hidden) = try secrets.redaction(of: place).split(old)
        secrets.reportLeftOut(hidden)
        let draft = try EditDraft(try ValueText.json(shown))
        while true {
            do {
                let start = ContinuousClock.now
                let editor = try edit(draft)
                // A secret that was left out of the text isn't changed.
                let differences = Difference.between(old, hidden.merging(try draft.contents()) { $1 })
                if differences.isEmpty, start.duration(to: .now) < .seconds(2) {
                    Terminal.warn(
                        "the editor \(editor) returned at once, and nothing was changed; if it opens a window, let it wait for that, "
                            + "as in EDITOR='code --wait'"
                    )
                }
                // What a newer version has stored may stay, but not be typed.
                for new in differences.compactMap(\.new) {
                    _ = try PropertyListValue(json: new.json())
                }
                let schema = try place.readableSchema()
                let changes = FormerNames(schema).storing(
                    Dictionary(uniqueKeysWithValues: differences.map { ($0.name, $0.new) })
                )
                if !force { try schema?.check(changes, from: old) }
                try apply(changes.map { Difference(name: $0, old: old[$0], new: $1) }, to: stores)
                return draft.remove()
            } catch let error as PreferenceError where error.code == .notDurable {
                // The values are set, but may be lost if the power fails.
                draft.remove()
                throw error
            } catch let error as PreferenceError where error.code == .outcomeUnknown {
                Terminal.warn("your text is kept in \(draft.path)")
                throw error
            } catch {
                let failure = (error as? Failure) ?? (error as? PreferenceError).map { Failure($0) }
                guard let failure else { throw error }
                Terminal.warn(failure.message)
                guard Terminal.confirms("Edit again?") else {
                    let kept = access(draft.path, F_OK) == 0 ? "; your text is kept in \(draft.path)" : ""
                    throw Failure(failure.status, "nothing was changed\(kept)")
                }
            }
        }
    }

    /// Runs the editor until it ends, and returns its command.
    private func edit(_ draft: EditDraft) throws -> String {
        let editor = ["VISUAL", "EDITOR"].lazy.compactMap(Terminal.variable).first { !$0.isEmpty } ?? "vi"
        // As in git, the variable may hold arguments.
        let status = try ChildProcess.run("/bin/sh", ["-c", editor + " \"$@\"", editor, draft.path])
        guard status == .exited(0) else {
            throw Failure(.failed, "the editor \(editor) failed; set EDITOR to one that works")
        }
        return editor
    }

    private func apply(_ differences: [Difference], to stores: PlaceStores) throws {
        try stores.store.transaction { transaction in
            let current = stores.ownContents
            for difference in differences where current[difference.name] != difference.new {
                guard current[difference.name] == difference.old else {
                    throw Failure(
                        .failed,
                        "\"\(difference.name)\" was changed by another program while you edited; show its value with `prefs read`"
                    )
                }
                // Read through the transaction, so that the body runs again if another process changes the value now.
                _ = transaction[difference.name]
                transaction[difference.name] = difference.new
            }
        }
    }
}

/// The text that the user edits, in a folder that only the user can read.
private struct EditDraft {
    let path: String
    private let folder: String

    init(_ text: String) throws {
        let parent = Terminal.variable("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(parent)/prefs.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("create a folder in", parent, errno: errno) }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/preferences.json"
        try OutputFile.replace(path, with: Array(text.utf8))
    }

    func contents() throws -> [String: PropertyListValue] {
        do throws(PreferenceError) {
            let bytes = try bytes()
            // Valid as an empty line of a preferences file; from an editor it rather means that the user gave up.
            guard !bytes.withoutLeadingSpace.isEmpty else {
                throw PreferenceError(.unreadable, "it is empty; write {} to remove every value")
            }
            return try PreferenceText.changes(in: bytes, isStrict: false).compactMapValues { $0 }
        } catch {
            throw Failure(.usage, "the text isn't a JSON object of names and values: \(error.message)")
        }
    }

    private func bytes() throws(PreferenceError) -> [UInt8] {
        do { return try InputFile.bytes(of: path) } catch {
            throw PreferenceError(.unavailable, "it is gone", cause: error)
        }
    }

    func remove() {
        unlink(path)
        // If an editor left a backup in the folder, the folder stays.
        rmdir(folder)
    }
}
