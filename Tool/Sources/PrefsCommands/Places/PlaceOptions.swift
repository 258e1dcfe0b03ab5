import ArgumentParser

/// The options that put a file, or a suite on etcd, in the place of the user's suite.
struct PlaceOptions: ParsableArguments {
    @ParentCommand var prefs: Prefs
    @Option(
        help: ArgumentHelp("Work on this file in place of a suite.", valueName: "path"),
        completion: .file()
    )
    var file: String?

    /// Returns the suites that a command may name.
    func suites() throws -> any Suites { try prefs.etcd.suites() }

    /// Returns the place, which is the first of `words` unless it is a file.
    func place(_ words: inout ArraySlice<String>) throws -> any Place {
        if let file {
            guard try suites() is FileSuites else {
                throw Failure(.usage, "--file and --etcd exclude each other; name the file or the cluster")
            }
            return try FilePlace(file: file)
        }
        if let suite = words.popFirst() { return try suites().place(of: suite) }
        throw Failure(.usage, "name a suite, or a file by --file; `prefs list` shows the suites", isAboutWords: true)
    }
}

extension ArraySlice<String> {
    /// The next word, or a failure that says what is missing.
    mutating func next(_ what: String) throws -> String {
        guard let word = popFirst() else { throw Failure(.usage, "\(what) is missing", isAboutWords: true) }
        return word
    }

    /// The next word as a preference's name.
    mutating func nextName(_ what: String = "the name of the preference") throws -> String {
        let name = try next(what)
        guard !name.isEmpty else { throw Failure(.usage, "\(what) is empty; a preference needs a name") }
        return name
    }

    /// A failure where words are left.
    func end() throws {
        guard let word = first else { return }
        throw Failure(
            .usage,
            "\"\(word)\" is one word too many; put names and values with spaces in quotes",
            isAboutWords: true
        )
    }
}
