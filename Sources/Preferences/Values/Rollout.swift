/// A share of the users for whom something is switched on, the same ones on every machine.
///
///     struct FleetPreferences: PreferenceGroup {
///         @Preference("newCheckout") var newCheckout = Rollout(percent: 0, seed: "newCheckout")
///     }
///     if preferences.newCheckout.includes(user.id) { … }
///     preferences.$newCheckout[\.percent].value = 25
///
/// A user is in one of a million buckets, chosen by a hash of the seed and the identifier; those below `percent` × 10,000,
/// rounded to the nearest integer, are included. So a higher percentage adds users and drops nobody.
///
/// The bucket is, in 64 bits that wrap around, of the bytes of the seed in UTF-8, a byte 0, and the bytes of the identifier:
///
///     hash = 0xcbf29ce484222325
///     for each byte: hash = (hash XOR byte) × 0x100000001b3           FNV-1a
///     hash = (hash XOR (hash >> 33)) × 0xff51afd7ed558ccd             the finalizer of MurmurHash3
///     hash = (hash XOR (hash >> 33)) × 0xc4ceb9fe1a85ec53
///     hash = hash XOR (hash >> 33)
///     bucket = hash modulo 1,000,000
///
/// It is stored as a dictionary, `{"percent":25,"seed":"newCheckout"}`, without the seed if that is empty. Another form, as
/// a plain number, and other members are unreadable: they would choose other users without a word.
public struct Rollout: Hashable, Sendable {
    /// How many of a hundred users are included, from 0 to 100, in steps of 0.0001.
    ///
    /// A preference can't be set to one outside of that: the set is `invalid`.
    public var percent: Double
    /// Tells this rollout's choice of users from that of others: those with equal seeds choose the same users first.
    public var seed: String

    /// Creates a rollout.
    public init(percent: Double, seed: String = "") {
        self.percent = percent
        self.seed = seed
    }

    /// Whether a user is included; nobody is at 0, and everybody at 100.
    ///
    /// - Parameter userID: Identifies the user. Its bytes in UTF-8 count, so give it in one normal form.
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
    /// Takes a dictionary with a `percent` from 0 to 100 and perhaps a `seed`, and nothing else.
    public init(storedValue: PropertyListValue) throws {
        guard case .dictionary(let members) = storedValue, let percent = members["percent"],
            members.keys.allSatisfy({ $0 == "percent" || $0 == "seed" })
        else {
            throw PreferencesError(
                .unreadable,
                "expected Rollout, such as {\"percent\":25,\"seed\":\"…\"}, found \(storedValue.summary)"
            )
        }
        self.init(
            percent: try PreferencesError.inside("percent", .unreadable) { try percent.real() },
            seed: try PreferencesError.inside("seed", .unreadable) { try members["seed"]?.string() ?? "" }
        )
        guard isValid else {
            throw PreferencesError(.unreadable, "a rollout's percent is from 0 to 100, and found is \(self.percent)")
        }
    }

    /// A dictionary; throws `invalid` for a percentage outside of 0 to 100.
    public func storedValue() throws -> PropertyListValue? {
        guard isValid else {
            throw PreferencesError(.invalid, "\(percent) percent is outside 0...100; nothing was changed")
        }
        return .dictionary(
            ["percent": .real(percent), "seed": seed.isEmpty ? nil : .string(seed)].compactMapValues { $0 }
        )
    }

    private var isValid: Bool { (0...100).contains(percent) }
}

extension Rollout: Codable {
    /// Takes what `init(storedValue:)` takes.
    public init(from decoder: any Decoder) throws {
        try self.init(storedValue: PropertyListValue(from: decoder))
    }

    /// Writes what `storedValue()` gives.
    public func encode(to encoder: any Encoder) throws {
        try storedValue()?.encode(to: encoder)
    }
}
