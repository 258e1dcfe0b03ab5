#if canImport(Glibc) && DEBUG
import FoundationEssentials
import Glibc
import Preferences

/// Programs that are started in containers, sandboxes and by supervisors, and files as other programs leave them.
///
/// Each case is a script, most in a mount namespace of their own. `$F` is this program in the role of one with a standard store,
/// `$f` is its file.
enum Places {
    private struct Case {
        let title: String
        let script: String
        /// The lines that the script must print.
        let expected: [String]
        var needsNamespace = true
    }

    /// Puts a folder over /etc that can be changed.
    private static let etc = """
        mkdir etc && mount -t tmpfs none etc && mkdir etc/upper etc/work &&
        mount -t overlay none -o lowerdir=/etc,upperdir=$PWD/etc/upper,workdir=$PWD/etc/work /etc || exit 77

        """

    private static let user = "setpriv --reuid=1000 --regid=1000 --clear-groups"

    private static let cases = [
        Case(
            title: "a file mounted by itself",
            script: """
                mkdir -p host "${f%/*}"; echo '{"volume":1}' >host/file; touch "$f"; mount --bind host/file "$f" || exit 77
                mkfifo go; "$F" watch 3 <go >seen & exec 4>go
                until grep -q 1 seen; do sleep 0.01; done; echo '{"volume":2}' >>host/file
                until grep -q 2 seen; do sleep 0.01; done; "$F" set 3
                wait; cat seen; "$F" get; tail -n 1 host/file
                """,
            expected: ["set", "1", "2", "3", "3", #"{"volume":3}"#]
        ),
        Case(
            title: "a folder in /etc that only root may enter",
            script: etc + """
                mkdir -m 700 /etc/caseapp; chown 1000 .; \(user) "$F" set 7; \(user) "$F" get
                echo '{"volume":3}' >/etc/caseapp/managed.jsonl; chmod 600 /etc/caseapp/managed.jsonl; chmod 711 /etc/caseapp
                \(user) "$F" set 8
                """,
            expected: ["set", "7", "set"]
        ),
        Case(
            title: "root over the folder of a user, and a group's folder",
            script: """
                mkdir -p "${f%/*}"; echo '{"volume":1}' >"$f"; chown -R 1000 "${f%/*}"; "$F" set 2; "$F" trusting 2
                rm "$f"; chgrp 1234 "${f%/*}"; chmod 2775 "${f%/*}"
                setpriv --reuid=1001 --regid=1234 --clear-groups "$F" set 4
                setpriv --reuid=1002 --regid=1234 --clear-groups "$F" set 5
                setpriv --reuid=1001 --regid=1234 --clear-groups "$F" get
                """,
            expected: ["notPermitted", "set", "set", "set", "5"]
        ),
        Case(
            title: "a file that the user can't write, and one on a read-only file system",
            script: """
                mkdir -p "${f%/*}"; echo '{"volume":1}' >"$f"; chmod 755 .config "${f%/*}"; chmod 444 "$f"
                \(user) "$F" writable; \(user) "$F" set 2; mv "$f" generated; ln -s "$PWD/generated" "$f"; \(user) "$F" writable
                rm "$f"; \(user) "$F" writable; chown 1000 "${f%/*}"; \(user) "$F" writable; ls "${f%/*}"
                mount --bind .config .config && mount -o remount,ro,bind .config || exit 77; "$F" writable
                """,
            expected: ["no", "readOnly", "no", "no", "yes", "no"]
        ),
        Case(
            title: "a name service that doesn't answer",
            script: """
                mount -t tmpfs none /run && mkdir /run/nscd && command -v python3 >/dev/null || exit 77
                python3 -c 'import socket, sys
                s = socket.socket(socket.AF_UNIX); s.bind("/run/nscd/socket"); s.listen(50); open("ready", "w").close()
                while True: s.accept(); open("asked", "w").close()' & until [ -e ready ]; do sleep 0.01; done
                "$F" get; ls asked 2>/dev/null; kill $!
                """,
            expected: ["0"]
        ),
        Case(
            title: "the system calls of a program with closed descriptors",
            script: #"""
                command -v strace >/dev/null && strace -o /dev/null true || exit 77
                strace -f -qq -o calls sh -c 'exec ./program worker places caseapp quiet 7 0<&- 1>&- 2>&-'; cat "$f"
                grep -cE '(write|flock|fdatasync|inotify_add_watch)\([0-2],' calls
                grep -qE 'write\(([3-9]|[0-9]{2}), .*volume' calls && echo above
                grep -cE 'nscd|nsswitch|/etc/passwd' calls
                """#,
            expected: [#"{"volume":7}"#, "0", "above", "0"],
            needsNamespace: false
        ),
        Case(
            title: "saved in place, slowly",
            script: """
                mkdir -p "${f%/*}"; echo '{"volume":7,"color":1}' >"$f"; mkfifo go; "$F" watch 8 <go >seen & exec 4>go
                until grep -q 7 seen; do sleep 0.01; done
                (exec 3>"$f"; sleep 0.12; printf '{"color":2,' >&3; sleep 0.12; echo '"volume":8}' >&3); wait; cat seen
                """,
            expected: ["7", "8"],
            needsNamespace: false
        ),
        Case(
            title: "a service with a dynamic user, a hidden home folder, deployed defaults and a credential",
            script: etc + """
                mkdir -p state credentials /etc/caseapp; echo s3cr3t >credentials/apiToken; echo '{"volume":3,"color":4}' >/etc/caseapp/preferences.jsonl
                chown 1000 state . credentials credentials/apiToken; chmod 400 credentials/apiToken
                HOME=/ STATE_DIRECTORY=$PWD/state CONFIGURATION_DIRECTORY=/etc/caseapp CREDENTIALS_DIRECTORY=$PWD/credentials
                export HOME STATE_DIRECTORY CONFIGURATION_DIRECTORY CREDENTIALS_DIRECTORY
                \(user) "$F" get; \(user) "$F" set 7; \(user) "$F" get; \(user) "$F" managed; \(user) "$F" credential; \(user) "$F" state 1
                cat state/preferences.jsonl state/state.jsonl; stat -c %u state/state.jsonl
                mkdir -m 000 hidden; mount -t tmpfs -o ro,mode=000 none hidden || exit 77
                HOME=$PWD/hidden; \(user) "$F" get; unset STATE_DIRECTORY; \(user) "$F" set 8
                """,
            expected: [
                "3", "set", "7", "4 free", "<redacted> s3cr3t", "set", #"{"volume":7}"#, #"{"starts":1}"#, "1000", "7",
                "unavailable",
            ]
        ),
        Case(
            title: "drop-ins in /etc, /run and /usr/lib",
            script: etc + """
                mount -t tmpfs none /run || exit 77
                for d in /etc /run; do mkdir -p $d/caseapp/managed.d $d/caseapp/preferences.d; done
                echo '{"volume":1,"color":1}' >/run/caseapp/preferences.d/10-a.jsonl; "$F" get; "$F" managed
                echo '{"volume":2}' >/etc/caseapp/preferences.d/10-a.jsonl; "$F" get; "$F" managed
                echo '{"volume":3,"color":3}' >/etc/caseapp/preferences.jsonl; "$F" get; "$F" managed; mkfifo go; "$F" watch 6 <go >seen & exec 4>go
                until grep -q 2 seen; do sleep 0.01; done; echo '{"volume":5}' >/run/caseapp/managed.d/a.jsonl
                until grep -q 5 seen; do sleep 0.01; done; "$F" set 8
                mkdir new; echo '{"volume":6}' >new/a.jsonl; mv new/a.jsonl /etc/caseapp/managed.d/a.jsonl; wait; cat seen
                ln -sf /dev/null /etc/caseapp/managed.d/a.jsonl; "$F" set 9; "$F" get
                mkdir /etc/caseapp/managed.d/b.jsonl; "$F" set 9; rm /run/caseapp/managed.d/*; chmod 700 /etc/caseapp/managed.d; chown -R 1000 .; \(user) "$F" set 10
                """,
            expected: ["1", "1 free", "2", "0 free", "2", "3 free", "managed", "2", "5", "6", "set", "9", "set", "set"]
        ),
        Case(
            title: "a ConfigMap whose link is retargeted",
            script: etc + """
                mkdir -p map/..1 map/..2 /etc/caseapp/preferences.d; echo '{"volume":1}' >map/..1/a.jsonl; echo '{"volume":2}' >map/..2/a.jsonl
                ln -s ..1 map/..data; ln -s ..data/a.jsonl map/a.jsonl; mount --bind map /etc/caseapp/preferences.d || exit 77
                mkfifo go; "$F" watch 2 <go >seen & exec 4>go; until grep -q 1 seen; do sleep 0.01; done
                ln -s ..2 map/..new; mv -T map/..new map/..data; wait; cat seen
                """,
            expected: ["1", "2"]
        ),
        Case(
            title: "a generated file of settings that can't be written, below a writable layer",
            script: """
                mkdir -p store .config/caseapp; printf '// Generated.\n{"volume": 3, "color": 4,}\n' >store/settings.json
                mount --bind store store && mount -o remount,bind,ro store || exit 77
                ln -s $PWD/store/settings.json .config/caseapp/settings.json; "$F" generated; "$F" set 7; "$F" generated; cat store/settings.json
                """,
            expected: ["3 settings", "set", "7 store", "// Generated.", "{\"volume\": 3, \"color\": 4,}"]
        ),
    ]

    static func run(_ count: Int, _ report: inout Report) async throws {
        let hasNamespaces = geteuid() == 0 && (try? Child.command("unshare --mount true")) != nil
        for place in cases {
            guard hasNamespaces || !place.needsNamespace else {
                report.skip("\(place.title): needs root and mount namespaces")
                continue
            }
            try run(place, &report)
        }
    }

    private static func run(_ place: Case, _ report: inout Report) throws {
        let folder = try Place()
        // Other users need the folder and the program.
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let script = """
            cd '\(folder.path)' && chmod 755 . && cp '\(program)' program && unset XDG_CONFIG_HOME XDG_CONFIG_DIRS
            HOME=$PWD; f=$PWD/.config/caseapp/preferences.jsonl; F=$PWD/F; export HOME f F
            printf '#!/bin/sh\\nexec "${0%%/*}/program" worker places caseapp "$@"\\n' >F; chmod 755 F
            \(place.script)
            """
        let path = folder.path + "/script"
        try Data(script.utf8).write(to: URL(filePath: path))
        // What it reports is expected, and has its own tests.
        let child = try Child.shell("exec 2>/dev/null; \(place.needsNamespace ? "unshare --mount " : "")sh '\(path)'")
        let lines = child.readLines()
        if child.wait() == 77 { return report.skip("\(place.title): the system doesn't allow it") }
        report.expect(lines == place.expected, "\(place.title): \(lines) instead of \(place.expected)")
        if lines == place.expected { report.note("\(place.title): as it must be") }
    }

    // MARK: The program

    static func work(_ arguments: [String]) async throws {
        var arguments = arguments
        PreferenceStore.applicationIdentifier = arguments.removeFirst()
        if arguments[0] == "trusting" { PreferenceStore.trustsOwners = true }
        let volume = Preference("volume", default: 0)
        let number = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 0
        do {
            switch arguments[0] {
            case "set", "trusting":
                try await volume.write(number)
                print("set")
            case "quiet":
                _ = Preference("text", default: 0).value
                try await volume.write(number)
                try await PreferenceStore.standard.flush()
            case "writable": print(PreferenceStore.standard.isWritable ? "yes" : "no")
            case "managed":
                let color = Preference("color", default: 0)
                print(color.value, color.isManaged ? "managed" : "free")
            case "credential":
                let store = PreferenceStore.layered([.credentials, .standard])
                let token = Preference("apiToken", default: "", in: store)
                print("\(token)".contains(token.value) ? "shown" : "<redacted>", token.value)
            case "state":
                try await Preference("starts", default: 0, in: .state).write(number)
                print("set")
            case "generated":
                guard let file = PreferenceStore.standard.location else { throw Obstacle("the store has no file") }
                let url = file.deletingLastPathComponent().appending(path: "settings.json")
                let own = Preference("volume", default: 0, in: .layered([.standard, .settingsFile(at: url)]))
                print(own.value, own.source)
            case "watch":
                for await value in volume.updates {
                    writeLine("\(value)", to: 1)
                    if value == number { return }
                }
            default: print(volume.value)
            }
        } catch let error as PreferenceError { print(error.code) }
    }
}
#endif
