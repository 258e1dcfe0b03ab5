#if canImport(Glibc)
internal import Glibc

/// An endpoint that never answers: the kernel accepts connections and requests, and no program reads them.
package final class BlackHole: Sendable {
    private let socket: Int32
    /// The URL, with a port that was free.
    package let url: String

    /// Creates an endpoint that listens.
    package init() throws(EtcdObstacle) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [socket] in
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0 && listen(socket, 128) == 0
            }
        }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        guard isListening else {
            close(socket)
            throw EtcdObstacle("no port can be listened on: \(errno)")
        }
    }

    deinit { close(socket) }
}
#endif
