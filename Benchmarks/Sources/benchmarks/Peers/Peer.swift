import Declarations
import Foundation

/// What a user could keep preferences in instead, opened over a folder. Used on one thread at a time.
protocol Peer: AnyObject {
    /// What is stored under a name, as a kind that the caller knows; nil where nothing is.
    func value(of name: String, as kind: Kind) throws -> Stored?

    /// Stores a value as durably as the peer promises.
    func set(_ value: Stored, for name: String) throws

    /// Stores all the values as one batch, where the peer has such a thing.
    func set(_ values: [(name: String, value: Stored)]) throws
}

extension Peer {
    /// Reads as a program that has a `Codable` type does.
    func profile(_ name: String) throws -> Profile? {
        guard case .data(let data) = try value(of: name, as: .record) else { return nil }
        return try JSONDecoder().decode(Profile.self, from: data)
    }
}

/// Why a peer can't be measured here.
struct Unavailable: Error, CustomStringConvertible {
    let description: String
    /// Whether a package of the system brings it, so that it isn't missing where all is measured.
    let isInstallable: Bool

    init(_ description: String, isInstallable: Bool = true) {
        (self.description, self.isInstallable) = (description, isInstallable)
    }
}

/// What went wrong with a peer that is there.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
