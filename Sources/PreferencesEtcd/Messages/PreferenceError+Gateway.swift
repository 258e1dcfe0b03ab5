internal import Preferences

extension PreferenceError {
    /// Creates the error of a store for a failed request.
    init(_ failure: GatewayFailure) {
        let text = failure.text
        switch failure {
        case .unconnected where text.contains("SSL"), .unreachable where text.contains("SSL"):
            self.init(handshake: text)
        case .unconnected, .unreachable, .transient:
            self.init(
                .unavailable,
                "no endpoint of etcd can serve the request; check the endpoints and the cluster's health: \(text)"
            )
        case .tokenRefused:
            self.init(
                .notPermitted,
                "etcd requires a user; set the configuration's credentials. The common name of a client certificate is not "
                    + "accepted as one: \(text)"
            )
        case .noPassword:
            self.init(
                .notPermitted,
                "the password of etcd's user can't be read; correct the file or the closure of the credentials: \(text)"
            )
        case .notUnderstood:
            self.init(
                .unavailable,
                "the endpoint does not answer as etcd's JSON gateway does; check its URL and version: \(text)"
            )
        case .refused(let code, _):
            switch (code, text) {
            case (7, _):
                self.init(
                    .notPermitted,
                    "etcd's user has no permission for this; grant its role the keys of the suite: \(text)"
                )
            case (_, _) where text.contains("authentication failed"):
                self.init(
                    .notPermitted,
                    "etcd rejects the user or password; correct the credentials. Nothing was read or changed: \(text)"
                )
            case (_, _) where text.contains("authentication is not enabled"):
                self.init(
                    .notPermitted,
                    "etcd has no users; remove the credentials, or enable authentication: \(text)"
                )
            case (_, _) where text.contains("too large") || text.contains("larger than max"):
                self.init(
                    .tooLarge,
                    "the values are larger than a request to etcd may be (--max-request-bytes); nothing was changed: \(text)"
                )
            case (_, _) where text.contains("too many operations"):
                self.init(
                    .tooLarge,
                    "the change has too many names for one etcd transaction; set maximumOperations to the servers' "
                        + "--max-txn-ops, or raise both; nothing was changed: \(text)"
                )
            case (_, _) where failure.isOutOfSpace:
                self.init(
                    .noSpace,
                    "etcd's space is used up; nothing was changed. Compact and defragment it or raise --quota-backend-bytes, then "
                        + "disarm the alarm: \(text)"
                )
            default:
                self.init(.unavailable, "etcd rejects the request; nothing was changed: \(text)")
            }
        }
    }

    /// Creates the error for a write of which it is unknown whether it is stored.
    init(inDoubt reason: GatewayFailure) {
        self.init(
            .outcomeUnknown,
            "no endpoint of etcd confirmed whether the change is stored; read it again when one answers: \(reason.text)"
        )
    }

    /// The alerts of TLS by which a server rejects the client's certificate; others have different causes, such as the version.
    private static let alertsAboutCertificate = [
        "BAD_CERTIFICATE", "UNKNOWN_CA", "CERTIFICATE_UNKNOWN", "CERTIFICATE_REVOKED",
    ]
    .map { "ALERT_\($0)" }

    /// Creates the error for a handshake that failed.
    private init(handshake text: String) {
        if text.contains("out of date") || text.contains("CERTIFICATE_EXPIRED") {
            self.init(
                .unavailable,
                "no encrypted connection can be made; a certificate of the configuration's tls is out of date, so replace its "
                    + "file, or correct the clock: \(text)"
            )
        } else if text.contains("CERTIFICATE_VERIFY_FAILED") {
            self.init(
                .unavailable,
                "no encrypted connection can be made; the server's certificate is not signed by an authority that the "
                    + "configuration's tls trusts, has expired, or is for another host: \(text)"
            )
        } else if text.contains("CERTIFICATE_REQUIRED") {
            self.init(
                .unavailable,
                "no encrypted connection can be made; the server requires a client certificate; set certificate and privateKey of "
                    + "the configuration's tls: \(text)"
            )
        } else if Self.alertsAboutCertificate.contains(where: text.contains) {
            self.init(
                .unavailable,
                "no encrypted connection can be made; the server rejects the client's certificate; check which authority "
                    + "signed it, and until when it is valid: \(text)"
            )
        } else {
            self.init(
                .unavailable,
                "no encrypted connection can be made; check the configuration's tls, and which authority signed the servers' "
                    + "certificates and the client's: \(text)"
            )
        }
    }
}
