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
            switch try reading({ try Place(suite: name).contents() }) {
            case .success(let contents): try body(name, contents)
            case .failure(let failure): first = first ?? failure
            }
        }
        return first
    }

    /// The changes of all suites from now on.
    ///
    /// A suite that is made meanwhile is noticed within a second, and what it has then counts as new. One that can't be
    /// read is told of once and not followed.
    static func changes() throws -> AsyncThrowingStream<(suite: String, differences: [Difference]), any Error> {
        let (changes, continuation) = AsyncThrowingStream.makeStream(
            of: (suite: String, differences: [Difference]).self
        )
        func follow(_ suite: String, isNew: Bool) throws {
            guard case .success(let store) = try reading({ try Place(suite: suite).open().store }) else { return }
            let iterator = store.changes.makeAsyncIterator()
            if isNew { continuation.yield((suite, Difference.between([:], store.contents))) }
            Task {
                var changes = iterator
                while let change = await changes.next() { continuation.yield((suite, change.differences)) }
            }
        }
        let first = try names()
        for suite in first { try follow(suite, isNew: false) }
        Task {
            var followed = Set(first)
            do {
                while true {
                    try await Task.sleep(for: .seconds(1))
                    for suite in try names() where followed.insert(suite).inserted { try follow(suite, isNew: true) }
                }
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return changes
    }

    /// What `body` reads of a suite, or what was in the way, of which the user is told, and that without its message.
    private static func reading<Value>(_ body: () throws -> Value) throws -> Result<Value, Failure> {
        do { return .success(try body()) } catch {
            let failure = (error as? Failure) ?? (error as? PreferencesError).map { Failure($0) }
            guard let failure else { throw error }
            Terminal.warn(failure.message)
            return .failure(Failure(failure.status, ""))
        }
    }

    /// The folder of all suites.
    static func folder() throws -> String {
        let path = try SuiteFiles("any").userPath
        return path.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    }
}
