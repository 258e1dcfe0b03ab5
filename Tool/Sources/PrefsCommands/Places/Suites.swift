import Preferences
import PreferencesInspection

/// The suites that a command may name.
protocol Suites: Sendable {
    /// Whether other machines can change the values.
    var isShared: Bool { get }
    /// Returns the names of the existing suites, sorted.
    func names() throws -> [String]
    /// Returns the place of a suite, which need not exist yet.
    func place(of suite: String) throws -> any Place
    /// Returns the place of the state that a suite's program keeps apart from its preferences.
    func place(ofStateOf suite: String) throws -> any Place
    /// Returns the location of the user's values of a suite, even if it doesn't exist yet, and the locations of all layers by name.
    func paths(of suite: String) throws -> (own: String, all: [String: PropertyListValue])
    /// Returns the path of the file in which Foundation keeps the user defaults of a suite apart from the values here; `nil` if there can
    /// be none.
    func foundationFile(of suite: String) throws -> String?
}

extension Suites {
    var isShared: Bool { false }

    func foundationFile(of suite: String) throws -> String? { nil }

    /// Calls `body` for each suite with the values that a program reads and with what to hide of them.
    ///
    /// A suite that can't be read is reported on standard error and skipped.
    ///
    /// - Parameter redaction: Returns what to hide of a place; throws if that isn't known.
    /// - Returns: The failure of the first suite that can't be read, without its message; `nil` if all were read.
    func forEach(
        _ redaction: (any Place) throws -> Redaction,
        _ body: (_ suite: String, PresentValues, Redaction) throws -> Void
    ) throws -> Failure? {
        var first: Failure?
        for name in try names() {
            let values: PresentValues
            let hidden: Redaction
            do {
                let place = try place(of: name)
                // Throws if the schema can't be read, unless secrets are shown.
                hidden = try redaction(place)
                values = try place.values(FormerNames(place.readableSchema()))
            } catch {
                let failure = Failure(error)
                Terminal.warn(failure.message)
                first = first ?? Failure(failure.status, "")
                continue
            }
            try body(name, values, hidden)
        }
        return first
    }
}

/// The suites for which the user has a file.
struct FileSuites: Suites {
    func names() throws -> [String] {
        let folder = try Self.folder()
        return try (Folder.names(in: folder) ?? []).filter { name in
            !name.hasPrefix(".") && access("\(folder)/\(name)/preferences.jsonl", F_OK) == 0
        }
    }

    func place(of suite: String) throws -> any Place { try FilePlace(suite: suite) }

    func place(ofStateOf suite: String) throws -> any Place { try FilePlace(stateOf: suite) }

    func foundationFile(of suite: String) throws -> String? { "\(try Self.folder())/\(suite).plist" }

    func paths(of suite: String) throws -> (own: String, all: [String: PropertyListValue]) {
        let files = try SuiteFiles(suite)
        func list(_ paths: [String]) -> PropertyListValue { .array(paths.map { .string($0) }) }
        let all: [String: PropertyListValue] = [
            "managed": .string(files.managedPath),
            "user": .string(files.userPath),
            "system": list(files.systemPaths),
            "state": .string(try files.statePath()),
            "dropIns": ["managed": list(files.managedFolders), "system": list(files.systemFolders)],
        ]
        return (files.userPath, all)
    }

    /// Returns the folder with the user's files of all suites.
    static func folder() throws -> String {
        let path = try SuiteFiles("any").userPath
        return path.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    }
}
