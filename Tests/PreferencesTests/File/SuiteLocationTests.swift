import FileTestSupport
import Foundation
import TestSupport
import Testing

@testable import Preferences

struct SuiteLocationTests {
    private static let home = SuiteLocation.Environment(home: "/home/ann", userFolder: "/var/ann")

    @Test
    func userFileLiesInTheHomeFolderByDefault() throws {
        let location = try SuiteLocation("app", environment: Self.home)
        same(location.userPath, "/home/ann/.config/app/preferences.jsonl")
        same(location.managedPath, "/etc/app/managed.jsonl")
        same(location.systemPaths, ["/etc/xdg/app/preferences.jsonl", "/etc/app/preferences.jsonl"])
    }

    @Test(arguments: [
        ("/config", "/config/app/preferences.jsonl"), ("/config//", "/config/app/preferences.jsonl"),
        ("/", "/app/preferences.jsonl"), ("", "/home/ann/.config/app/preferences.jsonl"),
        ("relative", "/home/ann/.config/app/preferences.jsonl"),
    ])
    func absoluteConfigurationHomeCounts(_ folder: String, _ path: String) throws {
        var environment = Self.home
        environment.configurationHome = folder
        try same(SuiteLocation("app", environment: environment).userPath, path)
    }

    @Test
    func userDatabaseStandsInForTheHomeVariable() throws {
        for home in [nil, "", "relative"] {
            let environment = SuiteLocation.Environment(home: home, userFolder: "/var/ann")
            try same(SuiteLocation("app", environment: environment).userPath, "/var/ann/.config/app/preferences.jsonl")
        }
    }

    @Test
    func withoutAnyHomeFolderThereIsNoLocation() {
        let error = #expect(throws: PreferenceError.self) { try SuiteLocation("app", environment: .init()) }
        same(error?.code, .unavailable)
    }

    @Test
    func systemFoldersKeepTheirOrderAndRelativeOnesAreIgnored() throws {
        var environment = Self.home
        environment.configurationFolders = "/a:relative:/b/:"
        let location = try SuiteLocation("app", environment: environment)
        same(
            location.systemPaths,
            [
                "/a/app/preferences.jsonl", "/b/app/preferences.jsonl", "/etc/app/preferences.jsonl",
            ]
        )
    }

    @Test(
        arguments: [
            (nil, nil, "/home/ann/.local/state/app/state.jsonl"), ("/s//", nil, "/s/app/state.jsonl"),
            ("relative", "relative", "/home/ann/.local/state/app/state.jsonl"),
            ("/s", "/var/lib/app/:/var/lib/b", "/var/lib/app/state.jsonl"),
            (nil, "relative:/var/lib/b", "/var/lib/b/state.jsonl"),
        ] as [(String?, String?, String)]
    )
    func stateHasItsPlace(_ stateHome: String?, _ stateFolders: String?, _ path: String) throws {
        var environment = Self.home
        (environment.stateHome, environment.stateFolders) = (stateHome, stateFolders)
        try same(SuiteLocation.statePath(of: "app", environment: environment), path)
        same(#expect(throws: PreferenceError.self) { try SuiteLocation.statePath(of: ".a") }?.code, .invalidName)
        let error = #expect(throws: PreferenceError.self) { try SuiteLocation.statePath(of: "a", environment: .init()) }
        same(error?.code, .unavailable)
    }

    /// A dynamic user's home folder is `/`, and one that `ProtectHome` hides can't be written.
    @Test(arguments: [nil, "", "relative", "/dev/null", "/dev/null/gone"])
    func serviceThatCanNotWriteItsHomeFolderHasItsStatesFolder(_ home: String?) throws {
        var environment = SuiteLocation.Environment(stateFolders: "/var/lib/player", home: home)
        let program = try SuiteLocation("player", isOfProgram: true, environment: environment)
        same(program.userPath, "/var/lib/player/preferences.jsonl")
        try same(SuiteLocation("shared", environment: environment).userPath, "/var/lib/player/shared/preferences.jsonl")
        environment.configurationHome = "/config"
        try same(SuiteLocation("shared", environment: environment).userPath, "/config/shared/preferences.jsonl")
    }

    @Test
    func serviceThatCanWriteItsHomeFolderUsesIt() throws {
        let folder = try TemporaryFolder()
        let environment = SuiteLocation.Environment(stateFolders: "/var/lib/player", home: folder.path)
        let location = try SuiteLocation("player", isOfProgram: true, environment: environment)
        same(location.userPath, folder.path(".config/player/preferences.jsonl"))
    }

    /// A service whose user has a home folder in the user database keeps the file that it had.
    @Test
    func serviceWithAUsableFileKeepsIt() throws {
        let folder = try TemporaryFolder()
        var environment = SuiteLocation.Environment(stateFolders: "/var/lib/player", userFolder: folder.path)
        let path = folder.path(".config/player/preferences.jsonl")
        try same(SuiteLocation("player", isOfProgram: true, environment: environment).userPath, path)
        try FileManager.default.createDirectory(
            atPath: folder.path(".config/player"),
            withIntermediateDirectories: true
        )
        try folder.write("", to: ".config/player/preferences.jsonl")
        try same(SuiteLocation("player", isOfProgram: true, environment: environment).userPath, path)
        // A file on the way leaves no place for the folder.
        try folder.write("", to: "file")
        environment = .init(stateFolders: "/var/lib/player", home: folder.path("file"), userFolder: folder.path)
        let moved = try SuiteLocation("player", isOfProgram: true, environment: environment).userPath
        same(moved, "/var/lib/player/preferences.jsonl")
    }

    @Test(arguments: [
        ("", "empty"), ("a/b", "\"/\""), ("a\0b", "NUL"), (".hidden", "dot"), ("..", "dot"),
        (String(repeating: "é", count: 101), "200 bytes"),
    ])
    func badNameIsRefusedWithItsRule(_ name: String, _ rule: String) {
        let error = #expect(throws: PreferenceError.self) { try SuiteLocation(name, environment: Self.home) }
        same(error?.code, .invalidName)
        same(error?.message.contains(rule), true)
    }

    @Test
    func suiteOfABadNameEndsTheProgram() async {
        await #expect(processExitsWith: .failure) { _ = PreferenceStore.suite("") }
    }

    @Test(arguments: ["a", "com.example.app", "group.a b", "ünïcödé 🎈", String(repeating: "x", count: 200)])
    func validNameIsAccepted(_ name: String) throws {
        try same(SuiteLocation(name, environment: Self.home).name, name)
    }

    @Test
    func programNamesTheStandardSuite() throws {
        #expect(try !SuiteLocation.defaultName().isEmpty)
        same(SuiteLocation.Environment.current.userFolder?.hasPrefix("/"), true)
    }

    @Test(arguments: [
        ("/nix/store/x/bin/.player-wrapped", "player"), (".player-wrapped__", "player"),
        ("..player-wrapped-wrapped", "player"), ("..player-wrapped_-wrapped", "player"),
        ("/bin/player-wrapped", "player-wrapped"),
        ("/bin/.-wrapped", ".-wrapped"), ("/bin/.player", ".player"), ("player_", "player_"),
    ])
    func wrappedProgramHasItsOwnName(_ path: String, _ name: String) {
        same(CurrentProcess.programName(of: path), name)
    }

    #if os(Linux)
    @Test(arguments: [
        ("/lib64/ld-linux-x86-64.so.2", true), ("/lib/ld-musl-aarch64.so.1", true), ("/lib/ld-2.31.so", true),
        ("ld.so", true),
        ("/lib64/ld64.so.2", true), ("/bin/ld", false), ("/bin/ldap.so", false), ("/bin/ld.gold", false),
        ("player", false),
    ])
    func dynamicLoaderIsRecognized(_ path: String, _ isLoader: Bool) {
        same(CurrentProcess.isLoader(path), isLoader)
    }
    #endif
}
