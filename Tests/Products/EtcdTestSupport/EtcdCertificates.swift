#if canImport(Glibc)
package import FileTestSupport
internal import Foundation

/// Authorities and certificates for encrypted connections, which `openssl` creates.
package enum EtcdCertificates {
    /// Runs a script in the folder that can create them: `authority NAME`, `sign NAME AUTHORITY [DAYS]`, `install AUTHORITY CLIENT`.
    ///
    /// - Throws: `EtcdObstacle` with the output of `openssl`.
    package static func run(_ script: String, in folder: TemporaryFolder) throws {
        let functions = """
            set -e
            authority() {
              openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/O=$1" -keyout $1.key -out $1.pem
            }
            sign() {
              openssl req -newkey rsa:2048 -nodes -subj "/O=$1" -keyout $1.key -out $1.csr
              printf 'subjectAltName=IP:127.0.0.1\\nextendedKeyUsage=serverAuth,clientAuth\\n' > $1.ext
              openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial -days ${3-2} -extfile $1.ext -out $1.pem
            }
            install() { # the authority and the client certificate, for the store under test
              cp $1.pem my-authority.pem; cp $2.key my-client.key; cp $2.pem my-client.pem
            }
            """
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "{ \(functions)\n\(script)\n} >openssl.log 2>&1"]
        process.currentDirectoryURL = URL(filePath: folder.path)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw EtcdObstacle(try folder.read("openssl.log")) }
    }
}
#endif
