import Foundation

/// An alternative in which a user could keep preferences, opened over a folder. Used on one thread at a time.
protocol Peer: AnyObject {
    /// Returns the value under a name, whose kind the caller knows; nil if nothing is stored.
    func value(of name: String, as kind: Kind) throws -> Stored?

    /// Stores a value as durably as the peer promises.
    func set(_ value: Stored, for name: String) throws

    /// Stores all values as one batch, if the peer supports that.
    func set(_ values: [(name: String, value: Stored)]) throws
}

extension Peer {
    /// Reads like a program that has a `Codable` type.
    func profile(_ name: String) throws -> Profile? {
        guard case .data(let data) = try value(of: name, as: .record) else { return nil }
        return try JSONDecoder().decode(Profile.self, from: data)
    }
}

/// The reason why a peer can't be measured here.
struct Unavailable: Error, CustomStringConvertible {
    let description: String
    /// Whether a package of the system provides the peer, so that it must not be missing in a complete run.
    let isInstallable: Bool

    init(_ description: String, isInstallable: Bool = true) {
        (self.description, self.isInstallable) = (description, isInstallable)
    }
}

/// An error of a peer that is installed.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
