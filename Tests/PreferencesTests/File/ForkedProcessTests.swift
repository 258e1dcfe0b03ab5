#if canImport(Glibc)
import FileTestSupport
import Glibc
import Testing

/// Processes that fork while the library, other threads and other processes are busy. Each is a process of its own, as a `fork` of the
/// tests would concern all of them: the experiment `fork` of the torture package, with few rounds.
@Suite(.timeLimit(.minutes(10)))
struct ForkedProcessTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func expectNoFailure(_ scenario: String, _ count: Int) throws {
        let output = try shell(
            "\"$1\" worker fork $HOME/config/preferences.jsonl \(scenario) \(count)",
            BuiltProgram.path("torture"),
            variables: ["HOME": folder.path],
            output: folder.path("output")
        )
        let words = output.split(separator: "\n").last?.split(separator: " ").compactMap { Int($0) } ?? []
        try #require(words.count == 5, "\(output)")
        // Children, and of these hung, dead, stale and failed.
        #expect(words[0] > 0 && words.dropFirst().allSatisfy { $0 == 0 }, "\(output)")
    }

    @Test
    func childrenOfAProcessThatHasJustSetReadAndCanNotSet() throws { try expectNoFailure("set", 40) }

    @Test
    func childrenOfAProcessThatWatchesReadItsValues() throws { try expectNoFailure("observe", 40) }

    @Test
    func manyChildrenUpdateOneValueByTheirOwnStores() throws { try expectNoFailure("workers", 100) }

    @Test
    func childrenOfAProcessWhoseThreadsSetAndReadGoOn() throws { try expectNoFailure("threads", 100) }

    @Test
    func childrenOfAnObserverGoOn() throws { try expectNoFailure("observer", 10) }

    @Test
    func forkWaitsForAJobOfTheLibrary() throws { try expectNoFailure("job", 10) }

    @Test
    func forkWaitsForALockOfTheLibrary() throws { try expectNoFailure("locks", 10) }

    @Test
    func childOfAProcessWithAStuckObserverReadsItsValues() throws { try expectNoFailure("stuck", 1) }
}
#endif
