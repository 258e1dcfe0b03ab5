import Foundation

/// Foundation's user defaults, saved after each set or not at all.
final class UserDefaultsPeer: Peer {
    private let defaults: UserDefaults
    private let isSaved: Bool

    /// - Parameter suite: A name that no other user defaults have; Foundation keeps them in the folder of
    ///   `XDG_CONFIG_HOME`.
    init(suite: String, isSaved: Bool) throws {
        guard let defaults = UserDefaults(suiteName: suite) else { throw Failure("no user defaults named \(suite)") }
        (self.defaults, self.isSaved) = (defaults, isSaved)
    }

    func value(of name: String, as kind: Kind) -> Stored? {
        switch kind {
        case .boolean: .boolean(defaults.bool(forKey: name))
        case .integer: .integer(defaults.integer(forKey: name))
        case .text: defaults.string(forKey: name).map { .text($0) }
        case .data, .record: defaults.data(forKey: name).map { .data($0) }
        }
    }

    func set(_ value: Stored, for name: String) throws {
        put(value, for: name)
        if isSaved { try save() }
    }

    func set(_ values: [(name: String, value: Stored)]) throws {
        for (name, value) in values { put(value, for: name) }
        try save()
    }

    private func put(_ value: Stored, for name: String) {
        switch value {
        case .boolean(let flag): defaults.set(flag, forKey: name)
        case .integer(let number): defaults.set(number, forKey: name)
        case .text(let text): defaults.set(text, forKey: name)
        case .data(let data): defaults.set(data, forKey: name)
        }
    }

    private func save() throws {
        guard defaults.synchronize() else { throw Failure("user defaults can't be saved") }
    }
}
