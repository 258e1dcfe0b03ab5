import Glibc
@_spi(Tool) import Preferences

/// The suites that the user has files of.
enum Suites {
    /// Their names, sorted.
    static func names() throws -> [String] {
        let folder = try folder()
        return try (Folder.names(in: folder) ?? []).filter { name in
            !name.hasPrefix(".") && access("\(folder)/\(name)/preferences.jsonl", F_OK) == 0
        }
    }

    /// Gives each suite with what a program reads of it; one that can't be read keeps none of the others back.
    ///
    /// The result is what was in the way of the first that can't be read; of each the user is told.
    static func forEach(_ body: (_ suite: String, [String: PropertyListValue]) throws -> Void) throws -> Failure? {
        var first: Failure?
        for name in try names() {
            let contents: [String: PropertyListValue]
            do { contents = try Place(suite: name).contents() } catch {
                let failure = Failure(error)
                Terminal.warn(failure.message)
                first = first ?? Failure(failure.status, "")
                continue
            }
            try body(name, contents)
        }
        return first
    }

    /// The folder of all suites.
    static func folder() throws -> String {
        let path = try SuiteFiles("any").userPath
        return path.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    }
}
