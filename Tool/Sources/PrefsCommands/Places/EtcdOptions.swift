import ArgumentParser

/// The options for suites on an etcd cluster; they stand before the command or behind it.
struct EtcdOptions: ParsableArguments {
    @Option(
        name: .customLong("etcd"),
        help: ArgumentHelp(
            "The endpoints, with commas between; `env` takes what etcdctl takes from ETCDCTL_… variables.",
            valueName: "urls"
        )
    )
    var endpoints: String?
    @Option(help: "What the keys begin with (default: preferences).") var prefix: String?
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
        help: ArgumentHelp("The certificates of the authority that signed the servers'.", valueName: "file"),
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
    /// Parsed only to say where a password belongs.
    @Option(help: .private) var password: String?

    /// Returns the suites on the cluster; those of files if no cluster is named.
    func suites() throws -> any Suites {
        if password != nil || user?.contains(":") == true { throw Self.passwordInSight }
        guard endpoints == nil else { return try cluster() }
        let others = [prefix, user, passwordFile, cacert, cert, key, timeout.map { "\($0)" }]
        guard others.allSatisfy({ $0 == nil }) else {
            throw Failure(
                .usage,
                "--prefix, --user, certificates and --timeout need --etcd with the cluster's endpoints"
            )
        }
        return FileSuites()
    }

    /// Returns the place of a suite by a word such as `https://etcd1:2379/preferences/com.example.app`; nil for other words.
    ///
    /// The prefix may be missing. User, certificates and time are those of the options.
    func place(of word: String) throws -> (any Place)? {
        guard word.hasPrefix("http://") || word.hasPrefix("https://") else { return nil }
        // Of several endpoints the last one is followed by the prefix and the suite.
        let authority = word.ranges(of: "://").last?.upperBound ?? word.startIndex
        guard let slash = word[authority...].firstIndex(of: "/"), let last = word.lastIndex(of: "/"),
            word.index(after: last) < word.endIndex
        else {
            let endpoint = word.hasSuffix("/") ? String(word.dropLast()) : word
            throw Failure(
                .usage,
                "\(Self.masked(word)) names no suite; write it behind the endpoint, as \(Self.masked(endpoint))/SUITE"
            )
        }
        var options = self
        options.endpoints = String(word[..<slash])
        if slash < last { options.prefix = String(word[word.index(after: slash)..<last]) }
        return try options.suites().place(of: String(word[word.index(after: last)...]))
    }

    /// A URL without what may be a password, as it is shown.
    static func masked(_ url: String) -> String { url.lastIndex(of: "@").map { "…" + url[$0...] } ?? url }

    static let passwordInSight = Failure(
        .usage,
        "a password on the command line is seen by every user of the machine; put it into PREFS_ETCD_PASSWORD, or into a "
            + "file for --password-file"
    )
}

// MARK: Words of a command line

extension EtcdOptions {
    private static let names = [
        "--etcd", "--prefix", "--user", "--password-file", "--cacert", "--cert", "--key", "--timeout", "--password",
    ]

    /// Returns how many words at the start are one of the options with its value; 0 if it is another word.
    static func count(in words: ArraySlice<String>) -> Int {
        guard let word = words.first else { return 0 }
        if names.contains(word) { return min(2, words.count) }
        return names.contains { word.hasPrefix($0 + "=") } ? 1 : 0
    }

    /// Moves the options from the start of `words` to the returned ones.
    static func take(from words: inout ArraySlice<String>) -> [String] {
        var taken: [String] = []
        while case let count = count(in: words), count > 0 {
            taken += words.prefix(count)
            words = words.dropFirst(count)
        }
        return taken
    }
}

#if !Etcd
extension EtcdOptions {
    private func cluster() throws -> any Suites {
        throw Failure(
            .usage,
            "this prefs was built without etcd; build it with `swift build --package-path Tool -c release --traits Etcd`"
        )
    }
}
#endif
