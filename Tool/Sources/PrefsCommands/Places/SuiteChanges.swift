import Dispatch
import Preferences
import PreferencesInspection

/// The changes of all suites, including those that are created later.
struct SuiteChanges {
    typealias Element = (suite: String, differences: [Difference])

    private let suites: any Suites
    private let continuation: AsyncStream<Element>.Continuation
    private var followed: Set<String> = []
    /// The suites that can't be read, whose failures were reported.
    private var failed: Set<String> = []

    /// Returns the changes of all existing suites, and looks for new suites each second.
    ///
    /// The first change of a new suite is the difference to the values that a program read before the suite's file existed. A suite
    /// that can't be read is tried again each second.
    static func follow(_ suites: any Suites) async throws -> AsyncStream<Element> {
        let (changes, continuation) = AsyncStream<Element>.makeStream()
        let first = try await DispatchQueue.commands.run {
            var following = SuiteChanges(suites: suites, continuation: continuation)
            following.followAll(try suites.names(), areNew: false)
            return following
        }
        Task {
            var following = first
            while true {
                try await Task.sleep(for: .seconds(1))
                following = try await DispatchQueue.commands.run { [following] in
                    var following = following
                    following.lookForMore()
                    return following
                }
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
            // The folder of the suites failed; no suite has an empty name.
            report(error, of: "")
        }
    }

    private mutating func followAll(_ names: [String], areNew: Bool) {
        for suite in names where !followed.contains(suite) {
            do {
                try follow(suite, isNew: areNew)
                followed.insert(suite)
            } catch {
                report(error, of: suite)
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
                continuation.yield((suite, Difference.between(before, first.new).compactMap(\.ofRead)))
            }
            while let change = await changes.next() {
                continuation.yield((suite, change.differences.compactMap(\.ofRead)))
            }
        }
    }

    private mutating func report(_ error: any Error, of suite: String) {
        if failed.insert(suite).inserted { Terminal.warn(Failure(error).message) }
    }
}
