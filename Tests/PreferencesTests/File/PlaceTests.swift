#if os(Linux)
import FileTestSupport
import TestSupport
import Testing

/// Places and ways in which a program is started.
@Suite(.timeLimit(.minutes(5)))
struct PlaceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func run(_ script: String, _ program: String = "PlaceProbe", variables: [String: String] = [:]) throws
        -> String
    {
        try shell(
            script,
            BuiltProgram.path(program),
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
    func homeFolderThatIsNotUTF8HasNoFile() throws {
        let output = try run(
            "HOME=$HOME/$(printf 'caf\\351'); export HOME; mkdir \"$HOME\"; \"$1\" get 2>/dev/null; \"$1\" set 7 2>/dev/null; ls -A \"$HOME\""
        )
        #expect(output.hasPrefix("0\n") && output.contains("isn't UTF-8; set HOME"))
        same(output.split(separator: "\n").count, 2)
    }

    @Test
    func otherProgramSeesChangesOfTheStandardStoreAndOfItsSuite() throws {
        let output = try run(
            """
            "$1" set 7; echo '{"volume":8}' >>$HOME/.config/PlaceProbe/preferences.jsonl; "$1" get
            XDG_CONFIG_HOME=$HOME/c "$1" set 9; cat $HOME/c/PlaceProbe/preferences.jsonl; "$1" get
            mkdir -p $HOME/x/PlaceProbe/preferences.d; export XDG_CONFIG_DIRS=$HOME/x HOME=$HOME/h
            echo '{"volume":1}' >$XDG_CONFIG_DIRS/PlaceProbe/preferences.jsonl; "$1" get
            echo '{"volume":2}' >$XDG_CONFIG_DIRS/PlaceProbe/preferences.d/a.jsonl; "$1" get; ls -A $HOME 2>&1 | wc -l
            """
        )
        same(output, "set\n8\nset\n{\"volume\":9}\n8\n1\n2\n1\n")
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

    // MARK: fork

    @Test
    func childOfForkRequestsNewStores() throws {
        let output = try run("\"$1\" $HOME/file.jsonl", "ForkProbe")
        same(output, "parent's store: 1 misuse\nnew stores: true true\nparent: 0 3 3\n")
        try same(folder.read("file.jsonl"), "{\"volume\":1}\n{\"volume\":3}\n")
        try same(folder.read(".config/fork-probe/preferences.jsonl"), "{\"count\":1}\n{\"count\":3}\n")
    }
}
#endif
