import Foundation
import Glibc
import Measuring

/// The whole life of a program that reads one preference and prints it.
enum StartRow {
    private static let plain = "a program that prints"
    private static let watching = "a program that asks inotify about a file and prints"
    private static let essentials = "a program that uses FoundationEssentials and prints"
    private static let own = "a program that reads one preference and prints it"
    private static let title = "start to end"

    static func measure(_ bench: Bench) throws -> Outcome {
        let folder = try bench.place.folder()
        let samples = Samples(count: 100)
        _ = try Ours.inFile(folder, samples)
        let arguments = [Ours.url(folder).path, samples.names(.integer, most: 1)[0]]
        func contender(_ name: String, _ kind: Contender.Kind, _ program: String) -> Contender {
            .timed(name, kind, length: bench.effort.length * 10) { count in
                for _ in 0..<count { try run(Child.sibling(program), arguments) }
            }
        }
        var table = Table("Start of a program", note: "With a file of 100 names.")
        try table.add(
            title,
            bench.effort,
            [
                contender(own, .ours, "starts-preferences"),
                contender(essentials, .limit, "starts-essentials"),
                contender(plain, .limit, "starts-plain"),
                contender(watching, .limit, "starts-watching"),
            ]
        )
        return Outcome(
            tables: [table],
            aims: [
                table.aim(
                    "start of a program",
                    "≤ 1.3× a program that links the same",
                    own,
                    comparedTo: essentials,
                    title,
                    .atMost(1.3)
                )
            ]
        )
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        var texts = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for text in texts { free(text) } }
        var (process, status): (pid_t, Int32) = (0, 0)
        guard posix_spawn(&process, program, &actions, nil, &texts, environ) == 0 else {
            throw Failure("\(program) can't be started; build the whole package")
        }
        guard waitpid(process, &status, 0) == process, status == 0 else { throw Failure("\(program) failed") }
    }
}
