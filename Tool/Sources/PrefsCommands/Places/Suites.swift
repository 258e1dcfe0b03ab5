import Glibc
@_spi(Tool) import Preferences

/// The suites that a command may name.
protocol Suites: Sendable {
    /// Returns the names of those that there are, sorted.
    func names() throws -> [String]
    /// Returns the place of a suite, which may be one to come.
    func place(of suite: String) throws -> any Place
    /// Returns where a suite's own values lie, or would; and, by name, all that is read of it.
    func paths(of suite: String) throws -> (own: String, all: [String: PropertyListValue])
}

extension Suites {
    /// Gives each suite with what a program reads of it, and which of that is hidden; one that can't be read keeps none of the
    /// others back.
    ///
    /// The result is what was in the way of the first that can't be read; of each the user is told.
    func forEach(
        _ secrets: SecretOptions,
        _ body: (_ suite: String, [String: PropertyListValue], Redaction) throws -> Void
    ) throws -> Failure? {
        var first: Failure?
        for name in try names() {
            let contents: [String: PropertyListValue]
            let redaction: Redaction
            do {
                let place = try place(of: name)
                contents = try place.contents()
                redaction = try secrets.redaction(of: place)
            } catch {
                let failure = Failure(error)
                Terminal.warn(failure.message)
                first = first ?? Failure(failure.status, "")
                continue
            }
            try body(name, contents, redaction)
        }
        return first
    }
}

/// The suites that the user has files of.
struct FileSuites: Suites {
    func names() throws -> [String] {
        let folder = try Self.folder()
        return try (Folder.names(in: folder) ?? []).filter { name in
            !name.hasPrefix(".") && access("\(folder)/\(name)/preferences.jsonl", F_OK) == 0
        }
    }

    func place(of suite: String) throws -> any Place { try FilePlace(suite: suite) }

    func paths(of suite: String) throws -> (own: String, all: [String: PropertyListValue]) {
        let files = try SuiteFiles(suite)
        let all: [String: PropertyListValue] = [
            "managed": .string(files.managedPath),
            "user": .string(files.userPath),
            "system": .array(files.systemPaths.map { .string($0) }),
        ]
        return (files.userPath, all)
    }

    /// The folder of all suites.
    static func folder() throws -> String {
        let path = try SuiteFiles("any").userPath
        return path.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    }
}
