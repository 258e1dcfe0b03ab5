@_spi(Tool) import Preferences

/// The changes of all suites, also of those that come while they are watched.
struct SuiteChanges {
    typealias Element = (suite: String, differences: [Difference])

    private let suites: any Suites
    private let continuation: AsyncStream<Element>.Continuation
    private var followed: Set<String> = []
    /// Those that can't be read, of which the user has been told.
    private var failed: Set<String> = []

    /// Begins to follow what there is, and looks for more each second.
    ///
    /// Of a suite that comes later, what a program reads otherwise than before counts as the first change. One that
    /// can't be read is tried again.
    static func follow(_ suites: any Suites) throws -> AsyncStream<Element> {
        let (changes, continuation) = AsyncStream<Element>.makeStream()
        var following = SuiteChanges(suites: suites, continuation: continuation)
        following.followAll(try suites.names(), areNew: false)
        Task { [following] in
            var following = following
            while true {
                try await Task.sleep(for: .seconds(1))
                following.lookForMore()
            }
        }
        return changes
    }

    private init(suites: any Suites, continuation: AsyncStream<Element>.Continuation) {
        self.suites = suites
        self.continuation = continuation
    }

    private mutating func lookForMore() {
        do {
            followAll(try suites.names(), areNew: true)
        } catch {
            // The folder itself; no suite has this name.
            tell(error, of: "")
        }
    }

    private mutating func followAll(_ names: [String], areNew: Bool) {
        for suite in names where !followed.contains(suite) {
            do {
                try follow(suite, isNew: areNew)
                followed.insert(suite)
            } catch {
                tell(error, of: suite)
            }
        }
    }

    private func follow(_ suite: String, isNew: Bool) throws {
        let place = try suites.place(of: suite)
        let before = isNew ? try place.contentsWithoutUser() : [:]
        let stores = try place.open()
        place.reportConnection()
        let iterator = stores.store.contentsAndChanges.makeAsyncIterator()
        Task { [continuation] in
            var changes = iterator
            if let first = await changes.next(), isNew {
                continuation.yield((suite, Difference.between(before, first.new)))
            }
            while let change = await changes.next() { continuation.yield((suite, change.differences)) }
        }
    }

    private mutating func tell(_ error: any Error, of suite: String) {
        if failed.insert(suite).inserted { Terminal.warn(Failure(error).message) }
    }
}
