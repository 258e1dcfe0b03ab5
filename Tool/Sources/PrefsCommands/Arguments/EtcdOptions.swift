import ArgumentParser

/// The options for suites on an etcd cluster, given before or after the command.
// It conforms to `ParsableCommand` for `@ParentCommand`, by which a command gets the options that `prefs` has read. As an option group
// they would be options of each command, too, and every start would be slower: by 4 %, in a debug build three times as slow.
struct EtcdOptions: ParsableCommand {
    @Option(
        name: .customLong("etcd"),
        help: ArgumentHelp(
            "The endpoints, separated by commas; `env` reads etcdctl's ETCDCTL_… variables.",
            valueName: "urls"
        )
    )
    var endpoints: String?
    @Option(help: "The prefix of the keys (default: preferences).") var prefix: String?
    @Option(
        help: ArgumentHelp(
            "The user; the password comes from PREFS_ETCD_PASSWORD or a file, never from the command line.",
            valueName: "name"
        )
    )
    var user: String?
    @Option(help: ArgumentHelp("A file with the user's password.", valueName: "file"), completion: .file())
    var passwordFile: String?
    @Option(
        help: ArgumentHelp(
            "The certificates of the authority that signed the servers' certificates.",
            valueName: "file"
        ),
        completion: .file()
    )
    var cacert: String?
    @Option(
        help: ArgumentHelp("The client's certificate, if the servers demand one.", valueName: "file"),
        completion: .file()
    )
    var cert: String?
    @Option(help: ArgumentHelp("The client's private key.", valueName: "file"), completion: .file())
    var key: String?
    @Option(
        help: ArgumentHelp("How long to try to reach an endpoint (default: 5).", valueName: "seconds")
    )
    var timeout: Double?
    @Option(help: ArgumentHelp("Why the command changes the suite, as `prefs log` shows it.", valueName: "text"))
    var reason: String?
    /// Parsed only for a message that says how to give a password.
    @Option(help: .private) var password: String?

    /// Returns a URL for display, without the part that might be a password.
    static func masked(_ url: String) -> String { url.lastIndex(of: "@").map { "…" + url[$0...] } ?? url }
}

// MARK: Words of a command line

extension EtcdOptions {
    private static let names = [
        "--etcd", "--prefix", "--user", "--password-file", "--cacert", "--cert", "--key", "--timeout", "--reason",
        "--password",
    ]

    /// Returns the number of words of the option at the start, with its value; 0 if the first word isn't one of these options.
    static func count(in words: ArraySlice<String>) -> Int {
        guard let word = words.first else { return 0 }
        if names.contains(word) { return min(2, words.count) }
        return names.contains { word.hasPrefix($0 + "=") } ? 1 : 0
    }

    /// Removes these options from the start of `words` and returns them.
    static func take(from words: inout ArraySlice<String>) -> [String] {
        var taken: [String] = []
        while case let count = count(in: words), count > 0 {
            taken += words.prefix(count)
            words = words.dropFirst(count)
        }
        return taken
    }
}
