#if ArgumentParser
internal import ArgumentParser
internal import Preferences

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension PreferenceCommand {
    struct Edit: ParsableCommand {
        static var configuration: CommandConfiguration {
            CommandConfiguration(
                commandName: "edit",
                abstract: "Change the stored values in your editor, as one change.",
                discussion: """
                    Opens them as JSON in $VISUAL or $EDITOR, else in vi. What you save is checked before it is stored; a text that \
                    can't be used is kept, and nothing is changed. Secrets are left out.
                    """
            )
        }

        func run() throws {
            try CommandFailure.run {
                let store = PreferenceCommand.store
                let preferences = PreferenceCommand.preferences(in: store).filter { !$0.isSecret && $0.store === store }
                try PreferenceCommand.open(preferences)
                let names = preferences.map(\.name)
                var old: [String: PropertyListValue] = [:]
                for preference in preferences { old[preference.name] = preference.ownValue }
                let draft = try TextDraft(try PropertyListValue.text(of: old, in: names))
                do {
                    try draft.edit()
                    let new = try draft.contents()
                    guard new != old else {
                        draft.remove()
                        CommandInput.warn(
                            "nothing was changed; an editor that returns at once needs an option to wait, such as EDITOR='code --wait'"
                        )
                        return
                    }
                    try check(new, old, preferences)
                    try apply(new, over: old, to: store)
                    draft.remove()
                } catch let error as PreferenceError where error.code == .notDurable {
                    draft.remove()
                    throw error
                } catch let failure as CommandFailure {
                    throw CommandFailure(
                        failure.status,
                        "\(failure.message); nothing was changed, your text is kept in \(draft.path)"
                    )
                } catch let error as PreferenceError {
                    throw CommandFailure(CommandFailure(error).status, "\(error); your text is kept in \(draft.path)")
                }
            }
        }

        private func check(
            _ new: [String: PropertyListValue],
            _ old: [String: PropertyListValue],
            _ preferences: [AnyPreference]
        ) throws {
            for (name, value) in new.sorted(by: { $0.key < $1.key }) where old[name] != value {
                guard let preference = preferences.first(where: { $0.name == name }) else {
                    let hint = name.nearest(among: preferences.map(\.name)).map { "; did you mean \"\($0)\"?" } ?? ""
                    throw CommandFailure(.usage, "there is no setting \"\(name)\"\(hint)")
                }
                guard preference.accepts(value) else {
                    let expected = ["\(preference.textType)"] + preference.rules.compactMap(\.expectation)
                    throw CommandFailure(
                        .usage,
                        "\(try value.json()) isn't a value of \(name): \(expected.joined(separator: ", "))"
                    )
                }
            }
        }

        /// Stores the differences, unless another program has changed one of them in between.
        private func apply(
            _ new: [String: PropertyListValue],
            over old: [String: PropertyListValue],
            to store: PreferenceStore
        ) throws {
            let changed = Swift.Set(new.keys).union(old.keys).filter { new[$0] != old[$0] }
            try store.transaction { transaction in
                for name in changed {
                    // Through the transaction, so that the body runs again if another process changes the value now.
                    guard transaction.ownValue(ofPreference: name) == old[name] else {
                        throw CommandFailure(.failed, "\"\(name)\" was changed by another program while you edited")
                    }
                    // Under the present name alone: a value that stayed under a former name would be shown again.
                    transaction.store(new[name], as: name)
                }
            }
        }
    }
}

extension PropertyListValue {
    /// Returns values as a JSON object with a line for each name, in the order of the names.
    fileprivate static func text(of values: [String: PropertyListValue], in names: [String]) throws -> String {
        let lines = try names.compactMap { name in
            try values[name].map { "  \(try PropertyListValue.string(name).json()): \(try $0.json())" }
        }
        return lines.isEmpty ? "{\n}" : "{\n\(lines.joined(separator: ",\n"))\n}"
    }
}

/// The text that the user edits, in a folder that only the user can read.
private struct TextDraft {
    let path: String
    private let folder: String

    init(_ text: String) throws {
        let parent = CommandInput.variable("TMPDIR") ?? "/tmp"
        var template = Array("\(parent)/config.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(.failed, "no folder can be created in \(parent): \(String(cString: strerror(errno)))")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = folder + "/settings.json"
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        defer { close(file) }
        guard file >= 0, CommandInput.put(text, on: file) else {
            throw CommandFailure(.failed, "\(path) can't be written: \(String(cString: strerror(errno)))")
        }
    }

    /// Opens the text in the editor, and waits until that ends.
    func edit() throws {
        let editor = CommandInput.variable("VISUAL") ?? CommandInput.variable("EDITOR") ?? "vi"
        // As in git, the variable may hold options.
        let quoted = path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
        guard runInShell("\(editor) '\(quoted)'") == 0 else {
            throw CommandFailure(.failed, "the editor \(editor) failed; set EDITOR to one that works")
        }
    }

    func contents() throws -> [String: PropertyListValue] {
        let file = open(path, O_RDONLY)
        defer { if file >= 0 { close(file) } }
        let bytes = file < 0 && errno == ENOENT ? [] : CommandInput.contents(of: file)
        guard let bytes else {
            throw CommandFailure(.failed, "the text can't be read: \(String(cString: strerror(errno)))")
        }
        if bytes.allSatisfy({ $0 <= 32 }) {
            throw CommandFailure(.usage, "the text is empty; write {} to remove every value")
        }
        do throws(PreferenceError) { return try JSONLine.changes(in: bytes).compactMapValues { $0 } } catch {
            throw CommandFailure(.usage, "the text isn't a JSON object of names and values: \(error.message)")
        }
    }

    func remove() {
        unlink(path)
        // If an editor left a backup in the folder, the folder stays.
        rmdir(folder)
    }
}
#endif
