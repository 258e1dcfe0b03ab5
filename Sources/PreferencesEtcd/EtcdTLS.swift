#if Etcd
internal import NIOSSL
internal import Preferences
#endif

/// Certificates and keys, each a PEM file.
public struct EtcdTLS: Hashable, Sendable {
    /// The authority that signed the servers' certificates; nil trusts what the system trusts.
    public var authority: String?
    /// The client's certificate chain, where the servers demand one.
    public var certificate: String?
    /// The client's private key.
    public var privateKey: String?

    /// Takes the paths of the files, which are read when the store is made.
    public init(authority: String? = nil, certificate: String? = nil, privateKey: String? = nil) {
        self.authority = authority
        self.certificate = certificate
        self.privateKey = privateKey
    }
}

#if Etcd
extension EtcdTLS {
    func configuration() throws(PreferencesError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        do {
            if let authority {
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority))
            }
            if let certificate {
                configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate).map {
                    .certificate($0)
                }
            }
            if let privateKey {
                configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: privateKey, format: .pem))
            }
        } catch {
            throw PreferencesError(.unavailable, "a certificate or key file can't be read; check \(self)", cause: error)
        }
        return configuration
    }
}
#endif
