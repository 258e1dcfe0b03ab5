#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The value of the suite's mark, which every write puts together with its changes and which no other write has.
///
/// A value alone can't say who wrote it, since another process may have set an equal one. Since each write of this library
/// puts the mark, also a removal, which leaves no key behind, the mark's revision says whether a request comes too late.
struct WriteMark: Hashable, Sendable {
    /// The value of the fence, put if a repeated write turned out to be too late.
    static let fence = Data(#""fence""#.utf8)

    let data: Data

    /// Creates a unique mark, as a JSON string.
    init() {
        data = Data("\"\(UUID().uuidString)\"".utf8)
    }
}
