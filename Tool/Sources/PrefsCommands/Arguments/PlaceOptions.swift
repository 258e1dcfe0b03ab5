import ArgumentParser

/// The options that choose a file, or a suite on etcd, instead of a suite in the user's files.
struct PlaceOptions: ParsableArguments {
    @ParentCommand var etcd: EtcdOptions
    @Option(
        help: ArgumentHelp("Work on this file instead of a suite.", valueName: "path"),
        completion: .file()
    )
    var file: String?

    /// Returns the suites that a command may name.
    func suites() throws -> any Suites { try etcd.suites() }

    /// Returns the file of the option, or else the suite that the first of `words` names, which is removed.
    func place(_ words: inout ArraySlice<String>) throws -> any Place {
        if let file {
            guard try suites() is FileSuites else {
                throw Failure(.usage, "--file and --etcd exclude each other; give one of them")
            }
            return try FilePlace(file: file)
        }
        if let suite = words.popFirst() { return try suites().place(of: suite) }
        throw Failure(.usage, "name a suite, or a file by --file; `prefs list` shows the suites", showsUsage: true)
    }
}

extension ArraySlice<String> {
    /// Removes and returns the next word; throws if no word is left.
    mutating func next(_ what: String) throws -> String {
        guard let word = popFirst() else { throw Failure(.usage, "\(what) is missing", showsUsage: true) }
        return word
    }

    /// Removes and returns the next word as the name of a preference.
    mutating func nextName(_ what: String = "the name of the preference") throws -> String {
        let name = try next(what)
        guard !name.isEmpty else { throw Failure(.usage, "\(what) is empty; a preference needs a name") }
        return name
    }

    /// Throws if words are left.
    func end() throws {
        guard let word = first else { return }
        throw Failure(
            .usage,
            "\"\(word)\" is one word too many; put names and values with spaces in quotes",
            showsUsage: true
        )
    }
}
