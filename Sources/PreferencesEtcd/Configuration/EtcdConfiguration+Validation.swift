internal import Preferences

extension EtcdConfiguration {
    /// Returns the configuration with each endpoint once and in its normal form.
    ///
    /// - Throws: `misuse`, with the correct form in the message; `notPermitted` if the password's file can't be read.
    func validated() throws(PreferenceError) -> EtcdConfiguration {
        var valid = self
        valid.endpoints = []
        for endpoint in endpoints {
            let endpoint = try normalized(endpoint)
            if !valid.endpoints.contains(endpoint) { valid.endpoints.append(endpoint) }
        }
        guard !valid.endpoints.isEmpty else {
            throw PreferenceError(.misuse, "the configuration has no endpoints; name at least one member's URL")
        }
        try checkPrefix()
        try credentials?.check()
        for (name, duration) in [
            ("timeout", timeout), ("attemptTimeout", attemptTimeout), ("probeInterval", probeInterval),
            ("rebalanceInterval", rebalanceInterval ?? .seconds(1)),
        ] where duration <= .zero || duration > .seconds(31_536_000) {
            throw PreferenceError(.misuse, "\(name) is \(duration); give a time above zero and of at most a year")
        }
        guard maximumOperations >= 4 else {
            throw PreferenceError(
                .misuse,
                "maximumOperations is \(maximumOperations); give the servers' --max-txn-ops, at least 4"
            )
        }
        return valid
    }

    private func checkPrefix() throws(PreferenceError) {
        let parts = prefix.split(separator: "/", omittingEmptySubsequences: false)
        guard !prefix.isEmpty, parts.contains(where: \.isEmpty) else { return }
        let right = parts.filter { !$0.isEmpty }.joined(separator: "/")
        throw PreferenceError(
            .misuse,
            "the prefix \"\(prefix)\" begins or ends with a slash or has an empty part; write \"\(right)\""
        )
    }

    // MARK: Endpoints

    private func normalized(_ endpoint: String) throws(PreferenceError) -> String {
        let usual = tls == nil ? "http" : "https"
        // The message must not show a password.
        let shown = endpoint.lastIndex(of: "@").map { "…" + endpoint[$0...] } ?? endpoint
        func misuse(_ problem: String) -> PreferenceError {
            PreferenceError(
                .misuse,
                "the endpoint \"\(shown)\" \(problem); write scheme, host and port, such as \"\(usual)://etcd1.example.com:2379\""
            )
        }
        guard let mark = endpoint.firstRange(of: "://") else { throw misuse("has no scheme") }
        let scheme = endpoint[..<mark.lowerBound].lowercased()
        var place = endpoint[mark.upperBound...]
        guard ["http", "https"].contains(scheme) else { throw misuse("has another scheme than http and https") }
        guard !place.contains("@") else {
            throw misuse("has a user or password in it, which belong in the configuration's credentials")
        }
        if place.hasSuffix("/") { place = place.dropLast() }
        guard !place.contains(where: { "/?#".contains($0) }) else { throw misuse("has a path, query or fragment") }
        let (host, port) = Self.hostAndPort(place)
        guard !host.isEmpty, host != "[]" else { throw misuse("has no host") }
        guard Self.isHost(host) else { throw misuse("has an invalid host") }
        if let port {
            guard port.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(port), (1...65_535).contains(number)
            else { throw misuse("has a port that isn't a number from 1 to 65535") }
        }
        guard tls == nil || scheme == "https" else {
            throw misuse("is not encrypted, though the configuration has tls")
        }
        return "\(scheme)://\(host.lowercased())\(port.map { ":\($0)" } ?? "")"
    }

    private static func hostAndPort(_ place: Substring) -> (host: Substring, port: Substring?) {
        // An IPv6 address has colons too, inside brackets.
        let end = place.lastIndex(of: "]") ?? place.startIndex
        guard let colon = place[end...].lastIndex(of: ":") else { return (place, nil) }
        return (place[..<colon], place[place.index(after: colon)...])
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || ":.".contains($0) }
        }
        return host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-_".contains($0)) }
    }
}
