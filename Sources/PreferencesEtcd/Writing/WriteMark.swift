#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The unique value that a write gives to the suite's mark key, in the same transaction as its changes.
///
/// A preference's value doesn't identify its writer, since another process may set an equal one. Each write of this library puts
/// the mark, also a removal, which leaves no key of the name behind but puts its guard.
struct WriteMark: Hashable, Sendable {
    /// The value of the fence, which a repeated request puts if it comes too late.
    static let fence = Data(#""fence""#.utf8)

    /// The value of a guard, whose revision alone matters: it is that of the last removal of one of its names.
    static let removal = Data(#""removed""#.utf8)

    let data: Data

    /// Creates a unique mark, as a JSON string.
    init() {
        data = Data("\"\(UUID().uuidString)\"".utf8)
    }
}
