#if Etcd
internal import Foundation
internal import NIOSSL
#endif

/// The paths of the certificates and keys for encrypted connections, each a PEM file.
///
/// The files are read when the store is created, and checked for changes before requests, at most once a second, and after a
/// connection failed because of its encryption. If they were changed, new connections use the new files, and the open watch moves
/// to such a connection without missing a change. While they can't be used, as between the replacement of a certificate and of its
/// key, the previous ones stay in use; if that lasts, the store reports it once to its issue handler.
public struct EtcdTLS: Hashable, Sendable {
    /// The path of the authorities that signed the servers' certificates; `nil` trusts those that the system trusts.
    public var authority: String?
    /// The path of the client's certificate chain, if the servers require one.
    public var certificate: String?
    /// The path of the client's private key.
    public var privateKey: String?

    /// Creates a configuration of encryption from the paths of the files.
    public init(authority: String? = nil, certificate: String? = nil, privateKey: String? = nil) {
        self.authority = authority
        self.certificate = certificate
        self.privateKey = privateKey
    }
}

#if Etcd
extension EtcdTLS {
    /// The contents of the files at one time.
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

extension EtcdTLS {
    /// The path of the authorities' file if none of its certificates is valid at a time, or of the client's if one of its isn't; `nil`
    /// if there is neither.
    func fileOutOfDate(at time: Date) throws -> String? {
        let seconds = time_t(time.timeIntervalSince1970)
        func isOutOfDate(_ certificate: NIOSSLCertificate) -> Bool {
            certificate.notValidAfter < seconds || seconds < certificate.notValidBefore
        }
        // A bundle of authorities often has an old one.
        if let authority, try NIOSSLCertificate.fromPEMFile(authority).allSatisfy(isOutOfDate) { return authority }
        if let certificate, try NIOSSLCertificate.fromPEMFile(certificate).contains(where: isOutOfDate) {
            return certificate
        }
        return nil
    }
}

extension EtcdTLS.Contents {
    /// Returns the configuration for connections; throws if a file is damaged, or the key doesn't belong to the certificate.
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
