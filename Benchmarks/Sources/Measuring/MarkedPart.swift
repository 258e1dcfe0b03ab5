/// The part of a document between two marks, which a program writes.
public struct MarkedPart: Sendable {
    public struct Missing: Error, CustomStringConvertible {
        public let description: String
    }

    private let begin: String
    private let end: String

    public init(_ name: String) {
        begin = "<!-- \(name): begin -->"
        end = "<!-- \(name): end -->"
    }

    /// The document with other text between the marks.
    public func replacing(_ text: String, in document: String) throws -> String {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.firstIndex(where: { $0 == begin }),
            let last = lines[first...].firstIndex(where: { $0 == end })
        else { throw Missing(description: "the page has no lines \"\(begin)\" and \"\(end)\" in this order; put them in") }
        return (lines[...first] + ["", text[...], ""] + lines[last...]).joined(separator: "\n")
    }
}
