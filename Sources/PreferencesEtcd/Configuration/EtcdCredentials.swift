internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A user of the cluster and its password.
///
/// Descriptions, dumps and mirrors don't contain the password.
public struct EtcdCredentials: Sendable {
    private enum Password: Sendable {
        case text(String)
        case file(String)
        case closure(@Sendable () throws -> String)
    }

    /// The user's name.
    public var user: String
    private let source: Password

    /// Creates credentials with a fixed password.
    public init(user: String, password: String) {
        self.user = user
        source = .text(password)
    }

    /// Creates credentials with a password in a file, which is read when the store is created and whenever a token is
    /// requested; one newline at its end is dropped.
    public init(user: String, passwordFile: String) {
        self.user = user
        source = .file(passwordFile)
    }

    /// Creates credentials with a closure that returns the password and is called whenever a token is requested.
    ///
    /// - Parameters:
    ///   - user: The user's name in the cluster.
    ///   - password: A closure that returns the password, called on any thread. It may block for up to the configuration's
    ///     `attemptTimeout`, and must not use the store.
    public init(user: String, password: @escaping @Sendable () throws -> String) {
        self.user = user
        source = .closure(password)
    }

    /// Checks the user and the password, except for a closure's, which is not called.
    func check() throws(PreferenceError) {
        guard !user.isEmpty else {
            throw PreferenceError(.misuse, "the credentials have no user; give the user's name, or no credentials")
        }
        switch source {
        case .text(let password):
            guard !password.isEmpty else {
                throw PreferenceError(
                    .misuse,
                    "the credentials of \"\(user)\" have an empty password; give the user's password, or no credentials"
                )
            }
        case .file:
            do throws(GatewayFailure) { _ = try password() } catch { throw PreferenceError(error) }
        case .closure: break
        }
    }

    /// Returns the current password.
    func password() throws(GatewayFailure) -> String {
        let password: String
        do {
            switch source {
            case .text(let text): password = text
            case .file(let path):
                let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
                password = text.last == "\n" || text.last == "\r\n" ? String(text.dropLast()) : text
            case .closure(let closure): password = try closure()
            }
        } catch {
            throw .noPassword("\(place): \(error)")
        }
        guard !password.isEmpty else { throw .noPassword("\(place) has an empty password") }
        return password
    }

    private var place: String {
        switch source {
        case .text: "the configuration"
        case .file(let path): path
        case .closure: "the credentials' closure"
        }
    }
}

extension EtcdCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The user's name.
    public var description: String { user }
    /// The user's name.
    public var debugDescription: String { user }
    /// A mirror with the user's name alone.
    public var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["user": user]) }
}
