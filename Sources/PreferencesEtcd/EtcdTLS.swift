#if Etcd
internal import Foundation
internal import NIOSSL
#endif

/// Certificates and keys, each a PEM file.
///
/// The files are read when the store is made, and looked at again before a request, at most once a second, and when a
/// connection fails for its encryption. If they were changed, new connections use the new ones and the open watch moves to
/// one, without a gap. While they can't be used, as between the replacement of a certificate and that of its key, the ones
/// before stay in use; if that lasts, the store's issue handler gets it once.
public struct EtcdTLS: Hashable, Sendable {
    /// The authorities that signed the servers' certificates; `nil` trusts what the system trusts.
    public var authority: String?
    /// The client's certificate chain, if the servers demand one.
    public var certificate: String?
    /// The client's private key.
    public var privateKey: String?

    /// Creates it from the paths of the files.
    public init(authority: String? = nil, certificate: String? = nil, privateKey: String? = nil) {
        self.authority = authority
        self.certificate = certificate
        self.privateKey = privateKey
    }
}

#if Etcd
extension EtcdTLS {
    /// What the files held at one time.
    struct Contents: Hashable {
        fileprivate var authority: [UInt8]?
        fileprivate var certificate: [UInt8]?
        fileprivate var privateKey: [UInt8]?
    }

    func contents() throws -> Contents {
        func bytes(_ path: String?) throws -> [UInt8]? {
            try path.map { Array(try Data(contentsOf: URL(filePath: $0))) }
        }
        return Contents(
            authority: try bytes(authority),
            certificate: try bytes(certificate),
            privateKey: try bytes(privateKey)
        )
    }
}

extension EtcdTLS.Contents {
    /// What connections are made with; throws if a file is damaged, or a key is not that of its certificate.
    func configuration() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let authority {
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(authority))
        }
        if let certificate {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMBytes(certificate).map { .certificate($0) }
        }
        if let privateKey {
            configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: privateKey, format: .pem))
        }
        _ = try NIOSSLContext(configuration: configuration)
        return configuration
    }
}
#endif
