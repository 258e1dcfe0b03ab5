/// The words of a command line that no option takes.
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

extension Place {
    /// Returns the name that the rest of a command line consists of, with the former names of its preference; `nil` if that is empty.
    ///
    /// A write also removes the former names, which are restored with the value.
    func names(ofNext words: inout ArraySlice<String>) throws -> [String]? {
        let name = words.isEmpty ? nil : try words.nextName()
        try words.end()
        return try name.map { FormerNames(try readableSchema()).names(of: $0) }
    }
}
