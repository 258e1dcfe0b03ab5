#if Etcd
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The connections that use one set of certificates; they are closed with the last reference.
final class Connections: Sendable {
    let client: HTTPClient

    fileprivate init(_ client: HTTPClient) { self.client = client }

    deinit {
        // The client must not be released before its shutdown has ended.
        client.shutdown { [client] _ in withExtendedLifetime(client) {} }
    }
}

/// The source of the connections for requests, which are replaced when the files of the certificates change.
final class ConnectionSource: Sendable {
    private struct State {
        var current: Connections
        /// A hash of the files that `current` was made from; a copy of the files would keep the private key in memory.
        var digest: Int
        /// The hash of files that can't be used, or of the error if they can't be read.
        var unusable: (digest: Int, isReported: Bool)?
        var isCheckDue = false
        /// Whether a thread is checking the files; another one might find and report them as they were before.
        var isChecking = false
        var checkedAt = ContinuousClock.now
        var handler: (@Sendable (PreferenceError?) -> Void)?
    }

    private let tls: EtcdTLS?
    private let connectTimeout: Duration
    private let loops: MultiThreadedEventLoopGroup
    private let state: Lock<State>

    init(
        _ tls: EtcdTLS?,
        connectTimeout: Duration,
        on loops: MultiThreadedEventLoopGroup
    ) throws(PreferenceError) {
        self.tls = tls
        self.connectTimeout = connectTimeout
        self.loops = loops
        let made: (Connections, Int)
        do {
            let contents = try tls?.contents()
            made = (Self.connections(try contents?.configuration(), connectTimeout, loops), contents.hashValue)
        } catch {
            throw PreferenceError(
                .unavailable,
                "a certificate or key file can't be read; check \(tls.map { "\($0)" } ?? "")",
                cause: error
            )
        }
        state = Lock(State(current: made.0, digest: made.1))
    }

    func observe(_ handler: @escaping @Sendable (PreferenceError?) -> Void) {
        state.withLock { $0.handler = handler }
    }

    /// Requests a check of the files before the next request.
    func setNeedsCheck() { state.withLock { $0.isCheckDue = true } }

    /// Returns the cause of a failed handshake, if it is a file of the configuration whose certificate is out of date.
    func cause(of text: String) -> String {
        let path: String?
        // A file that can't be read is reported when it is checked.
        do { path = try tls?.fileOutOfDate(at: Date()) } catch { path = nil }
        return path.map { "\(text) (the certificate in \($0) is out of date)" } ?? text
    }

    /// Returns the connections for a request; checks the files of the certificates first if that is due.
    func current() -> Connections {
        if let tls {
            let isDue = state.withLock { state in
                guard !state.isChecking, state.isCheckDue || state.checkedAt.duration(to: .now) >= .seconds(1) else {
                    return false
                }
                (state.isCheckDue, state.isChecking) = (false, true)
                return true
            }
            if isDue {
                check(tls)
                state.withLock { ($0.isChecking, $0.checkedAt) = (false, .now) }
            }
        }
        return state.withLock { $0.current }
    }

    private func check(_ tls: EtcdTLS) {
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
            // The old connections are released after the lock.
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
            noteUnusable(digest ?? Self.digest(of: error), tls, error)
        }
    }

    /// The hash of an error of reading a file; a text would do no better: the order of its parts varies from one error to the next.
    private static func digest(of error: any Error) -> Int {
        let error = error as? CocoaError
        return [error?.filePath, error.map { "\($0.code.rawValue)" }].hashValue
    }

    /// Reports unusable files once, and only if the next check finds them unchanged: files are replaced one after the other.
    private func noteUnusable(_ digest: Int, _ tls: EtcdTLS, _ error: any Error) {
        let handler = state.withLock { state -> (@Sendable (PreferenceError?) -> Void)? in
            guard let known = state.unusable, known.digest == digest else {
                state.unusable = (digest, false)
                return nil
            }
            state.unusable = (digest, true)
            return known.isReported ? nil : state.handler
        }
        handler?(
            PreferenceError(
                .unavailable,
                "the certificate or key files were changed and can't be used; the previous ones stay in use. Check \(tls)",
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
        // Otherwise a refused connection would be retried until the request's timeout.
        configuration.connectionPool.retryConnectionEstablishment = false
        return Connections(HTTPClient(eventLoopGroupProvider: .shared(loops), configuration: configuration))
    }
}
#endif
