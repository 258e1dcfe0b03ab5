public import Preferences

/// A percentage of users for whom a feature is enabled, who are the same users on every machine.
///
///     struct FleetPreferences: PreferenceGroup {
///         @Preference("newCheckout") var newCheckout = Rollout(percent: 0, seed: "newCheckout")
///     }
///     if preferences.newCheckout.includes(user.id) { … }
///     preferences.$newCheckout[\.percent].value = 25
///
/// A hash of the seed and the user's identifier assigns the user to one of a million buckets; the users whose buckets are below
/// `percent` × 10,000, rounded to the nearest integer, are included. So a higher percentage adds users and drops none.
///
/// The hash is computed in 64 bits that wrap around, over the UTF-8 bytes of the seed, a byte 0, and the bytes of the identifier:
///
///     hash = 0xcbf29ce484222325
///     for each byte: hash = (hash XOR byte) × 0x100000001b3           FNV-1a
///     hash = (hash XOR (hash >> 33)) × 0xff51afd7ed558ccd             the finalizer of MurmurHash3
///     hash = (hash XOR (hash >> 33)) × 0xc4ceb9fe1a85ec53
///     hash = hash XOR (hash >> 33)
///     bucket = hash modulo 1,000,000
///
/// It is stored as a dictionary, `{"percent":25,"seed":"newCheckout"}`, without the seed if that is empty. Other forms, such as a
/// plain number, and other members are unreadable, because they would silently select other users.
public struct Rollout: Hashable, Sendable {
    /// The percentage of included users, from 0 to 100, in steps of 0.0001.
    ///
    /// Setting a preference to a rollout with another percentage fails with the error `invalid`.
    public var percent: Double
    /// The seed of the selection: rollouts with equal seeds select the same users first, those with different seeds independently.
    public var seed: String

    /// Creates a rollout.
    ///
    /// - Parameters:
    ///   - percent: The percentage of included users, from 0 to 100. It is checked when the rollout is stored.
    ///   - seed: The seed of the selection, such as the name of the feature; empty by default.
    public init(percent: Double, seed: String = "") {
        self.percent = percent
        self.seed = seed
    }

    /// Returns whether a user is included: no user at 0 percent, every user at 100.
    ///
    /// - Parameter userID: The identifier of the user. Its UTF-8 bytes are hashed, so always pass it in the same normal form.
    public func includes(_ userID: String) -> Bool {
        // Rounded, as 93.409 × 10,000 is a little more than 934,090.
        Double(bucket(of: userID)) < (percent * 10_000 + 0.5).rounded(.down)
    }

    func bucket(of userID: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for byte in seed.utf8 { add(byte) }
        add(0)
        for byte in userID.utf8 { add(byte) }
        hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return (hash ^ (hash >> 33)) % 1_000_000
    }
}

extension Rollout: PreferenceValue {
    /// Creates a rollout from a dictionary with a `percent` from 0 to 100, optionally a `seed`, and no other members.
    public init(storedValue: PropertyListValue) throws {
        guard case .dictionary(let members) = storedValue, let percent = members["percent"],
            members.keys.allSatisfy({ $0 == "percent" || $0 == "seed" })
        else {
            throw PreferenceError(
                .unreadable,
                "expected Rollout, such as {\"percent\":25,\"seed\":\"…\"}, found \("\(storedValue)".prefix(60))"
            )
        }
        self.init(
            percent: try Double(storedValue: percent),
            seed: try members["seed"].map(String.init(storedValue:)) ?? ""
        )
        guard isValid else {
            throw PreferenceError(.unreadable, "a rollout's percent must be from 0 to 100, found \(self.percent)")
        }
    }

    /// Returns a dictionary; throws `invalid` if the percentage is outside 0 to 100.
    public func storedValue() throws -> PropertyListValue? {
        guard isValid else {
            throw PreferenceError(.invalid, "\(percent) percent is outside 0...100; nothing was changed")
        }
        return .dictionary(
            ["percent": .real(percent), "seed": seed.isEmpty ? nil : .string(seed)].compactMapValues { $0 }
        )
    }

    private var isValid: Bool { (0...100).contains(percent) }
}

extension Rollout: Codable {
    /// Decodes a rollout from the stored form, with the errors of `init(storedValue:)`.
    public init(from decoder: any Decoder) throws {
        try self.init(storedValue: PropertyListValue(from: decoder))
    }

    /// Encodes the stored form, with the errors of `storedValue()`.
    public func encode(to encoder: any Encoder) throws {
        try storedValue()?.encode(to: encoder)
    }
}
