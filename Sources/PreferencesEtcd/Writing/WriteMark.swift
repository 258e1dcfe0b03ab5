#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The value of the key without a name, put together with a change: who wrote it.
///
/// A value alone can't say so, since another may have set an equal one.
struct WriteMark: Hashable, Sendable {
    /// Put where a repeated write turned out to be too late.
    static let fence = Data(#""fence""#.utf8)

    let data: Data

    /// One that nobody else has, as a JSON string.
    init() {
        data = Data("\"\(UUID().uuidString)\"".utf8)
    }
}
