#if canImport(Glibc)
import FileTestSupport
import Glibc
import Testing

/// A process that forks while the library, its own threads and another process are busy; one of its own, as a `fork` of the tests would
/// concern all of them: the experiment `fork` of the torture package, with few rounds.
@Suite(.timeLimit(.minutes(10)))
struct ForkedProcessTests {
    @Test
    func childrenReadTheirParentsValuesAndChangeFilesOfTheirOwn() throws {
        let folder = try TemporaryFolder()
        let output = try shell(
            "\"$1\" worker fork $HOME/config/preferences.jsonl forking 40",
            BuiltProgram.path("torture"),
            variables: ["HOME": folder.path],
            output: folder.path("output")
        )
        #expect(try /children by their end: done \d+\n/.wholeMatch(in: output) != nil, "\(output)")
    }
}
#endif
