#if Etcd
@_spi(Tool) import PreferencesEtcd

extension EtcdOptions {
    /// Returns the configuration of the cluster; reads the certificates and the password.
    func configuration() throws -> EtcdConfiguration {
        // Either all or none of etcdctl's variables are used: one cluster must not get the password of another.
        let variables = endpoints == "env" ? Self.nonempty : { _ in nil }
        guard let list = endpoints == "env" ? variables("ETCDCTL_ENDPOINTS") : endpoints else {
            throw Failure(.usage, "--etcd env reads the endpoints from ETCDCTL_ENDPOINTS, which isn't set; set it")
        }
        let tls = try tls(variables)
        var configuration = EtcdConfiguration(
            endpoints: try list.split(separator: ",", omittingEmptySubsequences: false).map {
                try Self.endpoint(String($0), isEncrypted: tls != nil)
            }
        )
        configuration.tls = tls
        configuration.credentials = try credentials(variables)
        if let prefix { configuration.prefix = prefix }
        configuration.reason = try checkedReason()
        let seconds = timeout ?? 5
        guard seconds > 0, seconds <= 86_400 else {
            throw Failure(.usage, "--timeout takes seconds, more than 0 and at most a day")
        }
        configuration.timeout = .seconds(seconds)
        configuration.attemptTimeout = min(configuration.attemptTimeout, configuration.timeout)
        return configuration
    }

    /// Returns the reason, which is stored with each change until etcd's history is compacted.
    private func checkedReason() throws -> String? {
        guard let reason else { return nil }
        guard !reason.isEmpty, reason.utf8.count <= 500, !reason.contains(where: \.isNewline) else {
            throw Failure(.usage, "--reason takes one line of text, at most 500 bytes")
        }
        return reason
    }

    private static func endpoint(_ word: String, isEncrypted: Bool) throws -> String {
        let url = word.contains("://") ? word : (isEncrypted ? "https://" : "http://") + word
        let scheme = url.hasPrefix("https://") ? "https://" : "http://"
        let authority =
            url.dropFirst(scheme.count).hasSuffix("/")
            ? url.dropFirst(scheme.count).dropLast() : url.dropFirst(scheme.count)
        guard url.hasPrefix(scheme), !authority.isEmpty,
            !authority.contains(where: { "/?#@".contains($0) || $0.isWhitespace })
        else {
            throw Failure(
                .usage,
                "\"\(Self.masked(word))\" isn't an etcd endpoint; write one such as http://127.0.0.1:2379"
            )
        }
        guard !isEncrypted || scheme == "https://" else {
            throw Failure(
                .usage,
                "\(url) isn't encrypted, so certificates can't be used; write it with https://"
            )
        }
        return scheme + authority
    }

    private func tls(_ variables: (String) -> String?) throws -> EtcdTLS? {
        let tls = EtcdTLS(
            authority: cacert ?? variables("ETCDCTL_CACERT"),
            certificate: cert ?? variables("ETCDCTL_CERT"),
            privateKey: key ?? variables("ETCDCTL_KEY")
        )
        guard (tls.certificate == nil) == (tls.privateKey == nil) else {
            throw Failure(.usage, "--cert and --key need each other; give both files")
        }
        // A file that the user can't read ends the command with its own exit code, which the library's error doesn't have.
        for path in [tls.authority, tls.certificate, tls.privateKey].compactMap(\.self) {
            _ = try InputFile.bytes(of: path)
        }
        return tls == EtcdTLS() ? nil : tls
    }

    private func credentials(_ variables: (String) -> String?) throws -> EtcdCredentials? {
        let parts =
            variables("ETCDCTL_USER")?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map(String.init) ?? []
        guard parts.first?.isEmpty != true else {
            throw Failure(.usage, "ETCDCTL_USER names no user; write the user's name, a colon and the password")
        }
        guard let user = user ?? parts.first else {
            guard passwordFile == nil else {
                throw Failure(.usage, "--password-file needs a user; give the user by --user")
            }
            return nil
        }
        let ofVariables = self.user == nil ? variables("ETCDCTL_PASSWORD") ?? parts.dropFirst().first : nil
        guard let password = try filedPassword() ?? Self.nonempty("PREFS_ETCD_PASSWORD") ?? ofVariables else {
            throw Failure(
                .usage,
                "the password of the user \"\(user)\" is missing; put it into PREFS_ETCD_PASSWORD, or into a file for "
                    + "--password-file"
            )
        }
        return EtcdCredentials(user: user, password: password)
    }

    /// Returns the only line of the password file, without its line end.
    private func filedPassword() throws -> String? {
        guard let passwordFile else { return nil }
        let text = String(decoding: try InputFile.bytes(of: passwordFile), as: UTF8.self)
        let line = text.prefix { !$0.isNewline }
        guard !line.isEmpty, text.dropFirst(line.count + 1).isEmpty else {
            throw Failure(.usage, "\(passwordFile) must hold the password on one line, and nothing else")
        }
        return String(line)
    }

    private static func nonempty(_ variable: String) -> String? {
        Terminal.variable(variable).flatMap { $0.isEmpty ? nil : $0 }
    }
}
#endif
