extension EtcdOptions {
    /// Returns the suites on the cluster, or those in files if no cluster is given.
    func suites() throws -> any Suites {
        if password != nil || user?.contains(":") == true { throw Self.passwordInSight }
        guard endpoints == nil else { return try cluster() }
        let others = [prefix, user, passwordFile, cacert, cert, key, timeout.map { "\($0)" }, reason]
        guard others.allSatisfy({ $0 == nil }) else {
            throw Failure(
                .usage,
                "--prefix, --user, --timeout, --reason and the options for certificates need --etcd with the cluster's endpoints"
            )
        }
        return SystemSuites.make()
    }

    /// Returns the suite at a URL such as `https://etcd1:2379/preferences/com.example.app`, or `nil` if the word isn't a URL.
    ///
    /// The prefix may be missing. User, certificates and timeout are those of the options.
    func place(of word: String) throws -> (any Place)? {
        guard word.hasPrefix("http://") || word.hasPrefix("https://") else { return nil }
        // The prefix and the suite follow the last of several endpoints.
        let authority = word.ranges(of: "://").last?.upperBound ?? word.startIndex
        guard let slash = word[authority...].firstIndex(of: "/"), let last = word.lastIndex(of: "/"),
            word.index(after: last) < word.endIndex
        else {
            let endpoint = word.hasSuffix("/") ? String(word.dropLast()) : word
            throw Failure(
                .usage,
                "\(Self.masked(word)) names no suite; append it to the endpoint, as in \(Self.masked(endpoint))/SUITE"
            )
        }
        var options = self
        options.endpoints = String(word[..<slash])
        if slash < last { options.prefix = String(word[word.index(after: slash)..<last]) }
        return try options.suites().place(of: String(word[word.index(after: last)...]))
    }

    private static let passwordInSight = Failure(
        .usage,
        "every user of the machine can see a password on the command line; put it into PREFS_ETCD_PASSWORD, or into a "
            + "file for --password-file"
    )
}

#if Etcd
extension EtcdOptions {
    /// Returns the suites on the cluster, without connecting to it.
    private func cluster() throws -> any Suites { try EtcdCluster(try configuration()) }
}
#else
extension EtcdOptions {
    private func cluster() throws -> any Suites {
        throw Failure(
            .usage,
            "this prefs was built without etcd; build it with `swift build --package-path Tool -c release --traits Etcd`"
        )
    }
}
#endif
