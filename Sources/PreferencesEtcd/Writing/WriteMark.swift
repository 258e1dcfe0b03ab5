#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The unique value that a write gives to the suite's mark key, in the same transaction as its changes.
///
/// A preference's value doesn't identify its writer, since another process may set an equal one. Each write of this library puts
/// the mark, also a removal, which leaves no key of the name behind but puts its guard. The mark's revisions are the log of the suite.
struct WriteMark: Hashable, Sendable {
    /// The value of the fence, which a repeated request puts if it comes too late.
    static let fence = Data(#""fence""#.utf8)

    /// The value of a guard, whose revision alone matters: it is that of the last removal of one of its names.
    static let removal = Data(#""removed""#.utf8)

    /// The largest number of bytes of names that a mark lists.
    ///
    /// A mark is stored with every write, so a long list would double what a write of many names stores.
    static let longestNames = 1_000

    let data: Data

    /// Creates a unique mark for changes of names that this process makes now.
    init(_ names: some Sequence<String>, reason: String? = nil, at time: Date = Date()) {
        let names = names.sorted()
        let isShort = names.reduce(0) { $0 + $1.utf8.count } <= Self.longestNames
        let description = Description(
            id: UUID().uuidString,
            author: Self.author,
            program: Self.program,
            time: time,
            reason: reason,
            names: isShort ? names : nil
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        // It consists of texts and a date, for which the encoder has no error; a mark without a description is a mark, too.
        do { data = try encoder.encode(description) } catch { data = Data("\"\(description.id)\"".utf8) }
    }

    /// Reads the description in the value of the mark key; `nil` for one of an older version, which is a unique text alone.
    static func description(in data: Data?) -> Description? {
        guard let data else { return nil }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        // Another client may have put anything there.
        do { return try decoder.decode(Description.self, from: data) } catch { return nil }
    }

    /// The source and purpose of a write, as a JSON object.
    struct Description: Hashable, Codable, Sendable {
        /// The text that no other mark has.
        let id: String
        /// The user, as the environment names it, and the host of the process that wrote, as in `ada@web-3`; a claim, as the others.
        let author: String?
        let program: String?
        /// The time of the request, by the clock of that host, to the second.
        let time: Date?
        let reason: String?
        /// The names that were set or removed, sorted; `nil` if the list is too long.
        let names: [String]?

        private enum CodingKeys: String, CodingKey {
            case id, program, names
            case author = "by"
            case time = "at"
            case reason = "why"
        }
    }

    private static let author = author(environment: ProcessInfo.processInfo.environment, host: hostName)
    private static let program = ProcessInfo.processInfo.processName

    /// Returns the user, as the environment names it, and the host.
    ///
    /// The user database and the name service are not asked, as they may need the network and block for minutes.
    static func author(environment: [String: String], host: String) -> String {
        let user = ["LOGNAME", "USER"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        return "\(user ?? "uid \(geteuid())")@\(host)"
    }

    /// The name of the host, which the kernel keeps.
    static var hostName: String {
        // POSIX limits it to 255 bytes; a longer name may be cut without a zero byte.
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
