#if Etcd
import Foundation
import Testing

/// Suites on a real etcd.
@Suite(needsEtcd)
struct EtcdTests {
    /// Returns the tool with the variables of `server`, which `etcdctl` and `--etcd env` read.
    private func tool(_ server: EtcdServer, _ more: [String: String] = [:]) throws -> Tool {
        try Tool(["ETCD": server.url, "ETCDCTL_ENDPOINTS": server.url, "ETCDCTL_API": "3"].merging(more) { $1 })
    }

    @Test(arguments: try Transcript.names(in: "Etcd"))
    func transcriptIsAsItWas(_ name: String) throws {
        let (server, other) = (try EtcdServer.start(), try EtcdServer.start())
        defer { for server in [server, other] { server.kill() } }
        let transcript = try Transcript(name)
        let played = try transcript.play(with: try tool(server, ["OTHER": other.url]))
            .replacing(server.url, with: "$ETCD").replacing(other.url, with: "$OTHER")
        try transcript.recordIfWanted(played)
        #expect(played == transcript.text)
    }

    @Test
    func everyCommandHasATranscript() throws {
        let text = try Transcript.names(in: "Etcd").map { try Transcript($0).text }.joined()
        // Other tests run `watch`, at a terminal; `merge` is for files, and a schema is one.
        let others = ["watch", "merge", "schema"]
        for command in try Tool().run(["--help"]).output.commands where !others.contains(command) {
            #expect(text.contains("prefs --etcd $ETCD \(command)"), "no transcript runs \(command)")
        }
    }

    @Test
    func watchShowsEachChangeUntilInterrupted() throws {
        let server = try EtcdServer.start()
        defer { server.kill() }
        let tool = try tool(server)
        try tool.run("--etcd env write app volume 5")
        guard let session = try TerminalSession(tool, "trap : INT; prefs --etcd $ETCD watch app; echo ended with $?")
        else {
            return
        }
        #expect(try session.screen(showing: "Ctrl-C ends it").contains("watching the suite \"app\" on http"))
        try tool.run("--etcd env write app volume 6")
        #expect(try session.screen(showing: "5 → 6").contains("volume  5 → 6"))
        try tool.shell("etcdctl put preferences/app/theme '\"dark\"'")
        #expect(try session.screen(showing: "theme").contains("theme  - → \"dark\""))
        try tool.run("--etcd env delete app volume")
        _ = try session.screen(showing: "volume  6 → -")
        try session.press("C-c")
        #expect(try session.screen(showing: "ended with").contains("ended with 130"))
    }

    @Test
    func watchGoesOnWhenTheServerIsBack() throws {
        let server = try EtcdServer.start()
        defer { server.kill() }
        let tool = try tool(server)
        try tool.run("--etcd env write app volume 5")
        guard let session = try TerminalSession(tool, "prefs --etcd $ETCD watch app") else { return }
        _ = try session.screen(showing: "Ctrl-C ends it")
        server.kill()
        _ = try session.screen(showing: "the connection to etcd is lost")
        try server.start()
        _ = try session.screen(showing: "connected again, to \(server.url)")
        try tool.run("--etcd env --timeout 60 write app volume 6")
        #expect(try session.screen(showing: "5 → 6").contains("volume  5 → 6"))
    }

    @Test
    func watchOfAllSuitesShowsNewSuites() throws {
        let server = try EtcdServer.start()
        defer { server.kill() }
        let tool = try tool(server)
        try tool.run("--etcd env write app volume 5")
        guard let session = try TerminalSession(tool, "prefs --etcd $ETCD watch") else { return }
        #expect(try session.screen(showing: "Ctrl-C ends it").contains("watching all suites"))
        try tool.run("--etcd env write app volume 6")
        #expect(try session.screen(showing: "5 → 6").contains("  app  volume  5 → 6"))
        try tool.run("--etcd env write later volume 1")
        #expect(try session.screen(showing: "later").contains("  later  volume  - → 1"))
    }

    @Test
    func certificatesAreReadFromOptionsAndVariables() throws {
        let tool = try Tool()
        let made = try tool.shell(
            """
            set -e
            for authority in right wrong; do
              openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/O=$authority" -keyout $authority.key -out $authority.pem
            done
            for name in server client; do
              openssl req -newkey rsa:2048 -nodes -subj "/O=$name" -keyout $name.key -out $name.csr
              printf 'subjectAltName=IP:127.0.0.1\\nextendedKeyUsage=serverAuth,clientAuth\\n' > $name.ext
              openssl x509 -req -in $name.csr -CA right.pem -CAkey right.key -CAcreateserial -days 2 -extfile $name.ext \
                -out $name.pem
            done
            """
        )
        try #require(made.status == 0, "\(made)")
        func file(_ name: String) -> String { "\(tool.folder)/\(name)" }
        let server = try EtcdServer.start(
            "https",
            options: [
                "--cert-file", file("server.pem"), "--key-file", file("server.key"), "--client-cert-auth",
                "--trusted-ca-file", file("right.pem"),
            ],
            flags: ["--cacert", file("right.pem"), "--cert", file("client.pem"), "--key", file("client.key")]
        )
        defer { server.kill() }
        let address = server.url.dropFirst("https://".count)
        let client = "--cert client.pem --key client.key"
        // Without a scheme, certificates imply an encrypted connection.
        for endpoint in [server.url, "\(address)"] {
            let run = try tool.run("--etcd \(endpoint) --cacert right.pem \(client) write app volume 5")
            #expect(run == Tool.Run(output: "", error: "", status: 0))
        }
        let variables = """
            ETCDCTL_ENDPOINTS=\(address) ETCDCTL_CACERT=right.pem ETCDCTL_CERT=client.pem ETCDCTL_KEY=client.key
            """
        #expect(try tool.shell("\(variables) prefs --etcd env read app volume").output == "5\n")
        // The cause depends on when the timeout expires.
        let stranger = try tool.run("--etcd \(server.url) --timeout 1 --cacert wrong.pem \(client) read app")
        #expect(stranger.status == 5 && stranger.error.hasPrefix("prefs: no "), "\(stranger)")
        let plain = try tool.run("--etcd http://\(address) --cacert right.pem read app")
        #expect(plain.status == 2 && plain.error.contains("write it with https://"), "\(plain)")
    }

    @Test
    func completionOffersSuitesAndNamesOfTheCluster() throws {
        let server = try EtcdServer.start()
        defer { server.kill() }
        let tool = try tool(server)
        try tool.run("--etcd env write app volume 5")
        try tool.shell("prefs --generate-completion-script bash > completions")
        func offered(_ words: String...) throws -> String {
            let line = """
                source completions; COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
                COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; _prefs prefs '' ''
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            return try tool.run("/bin/bash", ["-c", line]).output
        }
        #expect(try offered("prefs", "--etcd", "env", "read", "") == "app\n")
        #expect(try offered("prefs", "--etcd", "env", "read", "app", "") == "volume\n")
    }
}
#else
import Testing

struct EtcdTests {
    @Test(arguments: ["--etcd http://etcd1:2379 list", "list --etcd env", "write --etcd env app volume 5"])
    func withoutTheTraitTheOptionSaysHowToBuild(_ line: String) throws {
        let run = try Tool().run(line)
        #expect(run.status == 2 && run.error.contains("swift build --package-path Tool -c release --traits Etcd"))
    }
}
#endif
