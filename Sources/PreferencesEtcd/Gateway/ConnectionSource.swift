#if Etcd
internal import AsyncHTTPClient
internal import DurableFile
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Preferences

/// Connections with the certificates of one time; closed with the last reference.
final class Connections: Sendable {
    let client: HTTPClient

    fileprivate init(_ client: HTTPClient) { self.client = client }

    deinit {
        // It must live until it is shut down.
        client.shutdown { [client] _ in withExtendedLifetime(client) {} }
    }
}

/// Gives the connections to make requests with: others after the certificates' files were replaced.
final class ConnectionSource: Sendable {
    private struct State {
        var current: Connections
        /// A digest of the files that they were made of, so that no private key is kept.
        var digest: Int
        /// The digest of files that can't be used, or of the error if they can't be read.
        var unusable: (digest: Int, isReported: Bool)?
        var isLookDue = false
        var lookedAt = ContinuousClock.now
        var handler: (@Sendable (PreferencesError?) -> Void)?
    }

    private let tls: EtcdTLS?
    private let connectTimeout: Duration
    private let loops: MultiThreadedEventLoopGroup
    private let state: Lock<State>

    init(
        _ tls: EtcdTLS?,
        connectTimeout: Duration,
        on loops: MultiThreadedEventLoopGroup
    ) throws(PreferencesError) {
        self.tls = tls
        self.connectTimeout = connectTimeout
        self.loops = loops
        let made: (Connections, Int)
        do {
            let contents = try tls?.contents()
            made = (Self.connections(try contents?.configuration(), connectTimeout, loops), contents.hashValue)
        } catch {
            throw PreferencesError(
                .unavailable,
                "a certificate or key file can't be read; check \(tls.map { "\($0)" } ?? "")",
                cause: error
            )
        }
        state = Lock(State(current: made.0, digest: made.1))
    }

    func observe(_ handler: @escaping @Sendable (PreferencesError?) -> Void) {
        state.withLock { $0.handler = handler }
    }

    /// Has the files be looked at before the next request.
    func lookAgain() { state.withLock { $0.isLookDue = true } }

    /// What to make a request with; reads the certificates' files if that is due.
    func current() -> Connections {
        if let tls {
            let isDue = state.withLock { state in
                guard state.isLookDue || state.lookedAt.duration(to: .now) >= .seconds(1) else { return false }
                state.isLookDue = false
                state.lookedAt = .now
                return true
            }
            if isDue { look(at: tls) }
        }
        return state.withLock { $0.current }
    }

    private func look(at tls: EtcdTLS) {
        var digest: Int?
        do {
            let contents = try tls.contents()
            digest = contents.hashValue
            let known = state.withLock { ($0.digest, $0.unusable?.digest) }
            if known.0 == digest {
                state.withLock { $0.unusable = nil }
                return
            }
            let made = Self.connections(try contents.configuration(), connectTimeout, loops)
            // What was used before is released without the lock.
            let (old, handler) = state.withLock { state in
                defer {
                    state.digest = contents.hashValue
                    state.unusable = nil
                }
                return (exchange(&state.current, with: made), state.handler)
            }
            withExtendedLifetime(old) {}
            handler?(nil)
        } catch {
            noteUnusable(digest ?? "\(error)".hashValue, tls, error)
        }
    }

    /// Reports what stays unusable from one look to the next, once: files are replaced one after the other.
    private func noteUnusable(_ digest: Int, _ tls: EtcdTLS, _ error: any Error) {
        let handler = state.withLock { state -> (@Sendable (PreferencesError?) -> Void)? in
            guard let known = state.unusable, known.digest == digest else {
                state.unusable = (digest, false)
                return nil
            }
            state.unusable = (digest, true)
            return known.isReported ? nil : state.handler
        }
        handler?(
            PreferencesError(
                .unavailable,
                "the certificate or key files were changed and can't be used; those of before stay in use. Check \(tls)",
                cause: error
            )
        )
    }

    private static func connections(
        _ tls: TLSConfiguration?,
        _ connectTimeout: Duration,
        _ loops: MultiThreadedEventLoopGroup
    ) -> Connections {
        var configuration = HTTPClient.Configuration()
        if let tls { configuration.tlsConfiguration = tls }
        configuration.timeout = .init(connect: TimeAmount(connectTimeout))
        configuration.redirectConfiguration = .disallow
        configuration.httpVersion = .http1Only
        // Else a refused connection is tried again and again until the request's time is over.
        configuration.connectionPool.retryConnectionEstablishment = false
        return Connections(HTTPClient(eventLoopGroupProvider: .shared(loops), configuration: configuration))
    }
}
#endif
