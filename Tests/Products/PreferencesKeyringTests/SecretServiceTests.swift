#if os(Linux)
import FileTestSupport
import Foundation
import KeyringTestSupport
import TestSupport
import Testing

/// The keyring of a desktop, used by a separate program: gnome-keyring on a private bus.
@Suite(.serialized, .enabled(if: isKeyringInstalled, "needs dbus-daemon, gnome-keyring, secret-tool and gdbus"))
struct SecretServiceTests {
    /// Starts a program that uses the keyring; the limits are in milliseconds.
    private func start(
        _ session: PrivateKeyring,
        call: Int = 30_000,
        prompt: Int = 30_000,
        lifetime: Int = 3_600_000,
        library: String = "libsecret-1.so.0"
    ) throws -> Dialogue {
        try session.start(BuiltProgram.path("KeyringProbe"), ["\(call)", "\(prompt)", "\(lifetime)", library])
    }

    @Test
    func secretToolReadsWhatIsStored() throws {
        let session = try PrivateKeyring()
        let program = try start(session)
        try expect(program, "set token hunter2 and more", "ok")
        try expect(program, "set count 42", "ok")
        try same(session.secretTool("lookup", "application", "probe", "name", "token").output, "hunter2 and more")
        try same(session.secretTool("lookup", "application", "probe", "name", "count").output, "42")
        try expect(program, "remove token", "ok")
        try same(session.secretTool("lookup", "application", "probe", "name", "token").status, 1)
        try expect(program, "issues", "-")
    }

    @Test
    func secretToolsItemsAreRead() throws {
        let session = try PrivateKeyring()
        try store("42", under: "count", in: session)
        let program = try start(session)
        try expect(program, "get count", "42")
        try expect(program, "number count", "42")
        try store("43", under: "count", in: session)
        try expect(program, "get count", "42")
        try expect(program, "load", "ok")
        try expect(program, "get count", "43")
        // The same item is changed, and no second one added.
        try expect(program, "set count 44", "ok")
        let items = try session.secretTool("search", "--all", "application", "probe").output
        same(items.split(separator: "\n").count { $0.hasPrefix("secret = ") }, 1)
        #expect(items.contains("secret = 44"))
    }

    @Test
    func externalChangeIsSeenOnceStale() throws {
        let session = try PrivateKeyring()
        let program = try start(session, lifetime: 1)
        try expect(program, "get token", "-")
        try store("new", under: "token", in: session)
        while try program.ask("get token") != "new" {}
    }

    @Test
    func programsShareAService() throws {
        let session = try PrivateKeyring()
        let (one, other) = (try start(session), try start(session))
        try expect(one, "set token one", "ok")
        try expect(other, "get token", "one")
        try expect(other, "append token more", "ok")
        try expect(one, "load", "ok")
        try expect(one, "get token", "onemore")
    }

    @Test
    func ownStoreIsNamedAfterTheProgram() throws {
        let session = try PrivateKeyring()
        let program = try session.start(BuiltProgram.path("KeyringProbe"))
        try expect(program, "set token hunter2", "ok")
        try same(session.secretTool("lookup", "application", "KeyringProbe", "name", "token").output, "hunter2")
    }

    @Test
    func missingLibraryBusOrServiceIsSaid() throws {
        let session = try PrivateKeyring(startsDaemon: false)
        let withoutLibrary = try start(session, library: "libnone.so.0")
        try expect(withoutLibrary, "set token a", contains: "unavailable: preference \"token\": ")
        try expect(withoutLibrary, "set token a", contains: "libsecret-1-0")
        let program = try start(session)
        try expect(program, "get token", "-")
        try expect(program, "issues", contains: "no program on the session bus provides the system's keyring")
        try expect(program, "set token a", contains: "unavailable: preference \"token\": no program on the session bus")
        session.killBus()
        try expect(program, "set token a", contains: "unavailable: preference \"token\": the session bus")
        try expect(program, "get token", "-")
        // It works again when both have been restarted.
        try session.startBus()
        try session.startDaemon()
        try expect(program, "set token a", "ok")
        try expect(program, "read token", "a")
    }

    @Test
    func lockedKeyringIsUnavailable() throws {
        let session = try PrivateKeyring()
        try store("hunter2", under: "token", in: session)
        session.killDaemon()
        try session.startDaemon(isUnlocked: false)
        // No program is running that could show the prompt.
        let program = try start(session, prompt: 100, lifetime: 1)
        try expect(program, "get token", "-")
        try expect(program, "issues", contains: "locked")
        try expect(program, "set token other", contains: "unavailable: ")
        session.killDaemon()
        try session.startDaemon()
        try expect(program, "load", "ok")
        try expect(program, "get token", "hunter2")
    }

    @Test(arguments: [false, true])
    func keyringThatIsRestartedIsFoundAgain(withItsBus: Bool) throws {
        let session = try PrivateKeyring()
        let program = try start(session)
        try expect(program, "set token a", "ok")
        if withItsBus { session.killBus() } else { session.killDaemon() }
        #expect(try program.ask("set token b").hasPrefix("unavailable"))
        try expect(program, "get token", "a")
        #expect(program.isRunning)
        if withItsBus { try session.startBus() }
        try session.startDaemon()
        try expect(program, "set token c", "ok")
        try same(session.secretTool("lookup", "application", "probe", "name", "token").output, "c")
    }

    @Test
    func hangingKeyringKeepsNothingElseWaiting() throws {
        let session = try PrivateKeyring()
        let folder = try TemporaryFolder()
        let program = try start(session, call: 2000)
        // On a busy machine, a keyring that isn't stopped may need longer, too.
        while try program.ask("set token a") != "ok" {}
        session.stopDaemon()
        // A file is written a hundred times while the set waits for its deadline.
        try same(program.ask("beside token \(folder.path("other.jsonl"))"), "100")
        let answer = try #require(program.readLine())
        #expect(answer.hasPrefix("unavailable") || answer.hasPrefix("outcomeUnknown"), "\(answer)")
        session.continueDaemon()
        while try program.ask("set token b") != "ok" {}
        try expect(program, "get token", "b")
    }

    private func expect(
        _ program: Dialogue,
        _ line: String,
        _ expected: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let answer = try program.ask(line)
        #expect(answer == expected, sourceLocation: sourceLocation)
    }

    private func expect(
        _ program: Dialogue,
        _ line: String,
        contains part: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let answer = try program.ask(line)
        #expect(answer.contains(part), sourceLocation: sourceLocation)
    }

    private func store(_ text: String, under name: String, in session: PrivateKeyring) throws {
        let tool = try session.secretTool("store", "--label=test", "application", "probe", "name", name, input: text)
        try #require(tool.status == 0)
    }
}

/// Whether the tests can run; a checkout without the tools reports the skipped tests, and CI has the tools.
private let isKeyringInstalled: Bool = {
    let missing = PrivateKeyring.missing
    if missing.isEmpty { return true }
    print("SKIPPED: the tests over a real keyring, for which \(missing.joined(separator: ", ")) must be installed")
    return ProcessInfo.processInfo.environment["CI"] != nil
}()
#endif
