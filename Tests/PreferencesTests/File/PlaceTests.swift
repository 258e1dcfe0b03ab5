#if os(Linux)
import FileTestSupport
import TestSupport
import Testing

/// Places and ways in which a program is started.
struct PlaceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ script: String, variables: [String: String] = [:]) throws -> String {
        try shell(
            script,
            BuiltProgram.path("PlaceProbe"),
            variables: variables.merging(["HOME": folder.path]) { given, _ in given },
            output: folder.path("output")
        )
    }

    @Test(arguments: ["0<&- 1>&- 2>&-", "2>&-", "1>&-", "0<&-", "0<&- 2>&-"])
    func nothingOfAProgramWithClosedDescriptorsGetsIntoTheFile(_ closed: String) throws {
        let file = ".config/PlaceProbe/preferences.jsonl"
        let text = "{\"undecodable\":\"text\"}\n"
        _ = try run("mkdir -p $HOME/.config/PlaceProbe; printf '\(text)' >$HOME/\(file); \"$1\" quiet 7 \(closed)")
        try same(folder.read(file), text + "{\"volume\":7}\n")
    }

    // MARK: Names and folders

    @Test
    func programThatADynamicLoaderStartsHasNoName() throws {
        let loader = "$(ls /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.* /lib/ld-musl-*.so.* 2>/dev/null | head -1)"
        let output = try run("\(loader) \"$1\" set 7; [ -e \"$HOME/.config\" ] || echo nothing")
        #expect(output.contains("set PreferenceStore.applicationIdentifier") && output.hasSuffix("nothing\n"))
    }

    @Test
    func programThatAScriptOfItsNameStartsHasThatName() throws {
        let path = try run("cp \"$1\" $HOME/.player-wrapped && $HOME/.player-wrapped path")
        same(path, folder.path(".config/player/preferences.jsonl\n"))
    }

    @Test
    func homeFolderThatIsNoTextHasNoFile() throws {
        let output = try run(
            """
            HOME=$HOME/$(printf 'caf\\351'); export HOME; mkdir "$HOME"
            "$1" get; "$1" set 7 | grep -c 'preferences.jsonl'; ls -A "$HOME"
            """
        )
        same(output, "0\n1\n")
    }

    // MARK: Services

    @Test
    func stateHasAFileOfItsOwn() throws {
        let output = try run(
            """
            "$1" set 7; "$1" state 1; cat "$HOME/.local/state/PlaceProbe/state.jsonl"
            XDG_STATE_HOME=$HOME/s "$1" state 2; STATE_DIRECTORY=$HOME/a:$HOME/b "$1" state 3
            cat "$HOME/.config/PlaceProbe/preferences.jsonl"
            PREFERENCES_ISOLATED=1 XDG_STATE_HOME=$HOME/t "$1" state 4; ls "$HOME"
            """
        )
        let home = folder.path
        same(
            output,
            """
            set
            \(home)/.local/state/PlaceProbe/state.jsonl
            {"launches":1}
            \(home)/s/PlaceProbe/state.jsonl
            \(home)/a/state.jsonl
            {"volume":7}
            none
            a
            output
            s

            """
        )
    }

    @Test
    func serviceWithoutAHomeFolderStoresInItsStatesFolder() throws {
        let output = try run(
            """
            mkdir $HOME/c; echo '{"volume":3}' >$HOME/c/preferences.jsonl
            STATE_DIRECTORY=$HOME/s CONFIGURATION_DIRECTORY=$HOME/c; HOME=/dev/null
            export STATE_DIRECTORY CONFIGURATION_DIRECTORY HOME
            "$1" path; "$1" get; "$1" set 7; "$1" get; cat $STATE_DIRECTORY/preferences.jsonl
            """
        )
        same(output, "\(folder.path)/s/preferences.jsonl\n3\nset\n7\n{\"volume\":7}\n")
    }

    @Test
    func credentialsAreRead() throws {
        let output = try run(
            "\"$1\" credential; mkdir $HOME/c; echo hunter2 >$HOME/c/apiToken; CREDENTIALS_DIRECTORY=$HOME/c \"$1\" credential"
        )
        same(output, "apiToken = none (default) none\napiToken = <redacted> (credentials) hunter2\n")
    }
}
#endif
