internal import Preferences

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A user of the cluster.
///
/// The password is part of no description, dump or mirror.
public struct EtcdCredentials: Sendable {
    private enum Password: Sendable {
        case text(String)
        case file(String)
        case closure(@Sendable () throws -> String)
    }

    /// The user's name.
    public var user: String
    private let source: Password

    /// Creates credentials with a password that stays the same.
    public init(user: String, password: String) {
        self.user = user
        source = .text(password)
    }

    /// Creates credentials with a password in a file, which is read when the store is made and each time that a token is
    /// asked for; one newline at its end is dropped.
    public init(user: String, passwordFile: String) {
        self.user = user
        source = .file(passwordFile)
    }

    /// Creates credentials with a password that is asked for each time that a token is.
    ///
    /// - Parameters:
    ///   - user: The user's name in the cluster.
    ///   - password: May block, but not for longer than the configuration's `attemptTimeout`; it must not use the store.
    public init(user: String, password: @escaping @Sendable () throws -> String) {
        self.user = user
        source = .closure(password)
    }

    /// Checks what can be checked without asking the closure.
    func check() throws(PreferencesError) {
        guard !user.isEmpty else {
            throw PreferencesError(.misuse, "the credentials have no user; give the user's name, or no credentials")
        }
        switch source {
        case .text(let password):
            guard !password.isEmpty else {
                throw PreferencesError(
                    .misuse,
                    "the credentials of \"\(user)\" have an empty password; give the user's password, or no credentials"
                )
            }
        case .file:
            do throws(GatewayFailure) { _ = try password() } catch { throw PreferencesError(error) }
        case .closure: break
        }
    }

    /// The password as it is now.
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
        guard !password.isEmpty else { throw .noPassword("\(place) gives an empty one") }
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
    /// The name alone.
    public var description: String { user }
    /// The name alone.
    public var debugDescription: String { user }
    /// The name alone.
    public var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["user": user]) }
}
