/// The part of a document between two marks, which a program writes.
package struct MarkedPart: Sendable {
    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    private let begin: String
    private let end: String

    package init(_ name: String) {
        begin = "<!-- \(name): begin -->"
        end = "<!-- \(name): end -->"
    }

    /// Returns the document with other text between the marks.
    package func replacing(_ text: String, in document: String) throws -> String {
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.firstIndex(where: { $0 == begin }),
            let last = lines[first...].firstIndex(where: { $0 == end })
        else {
            throw Missing(description: "the page lacks \"\(begin)\" and then \"\(end)\", each on a line; put them in")
        }
        return (lines[...first] + ["", text[...], ""] + lines[last...]).joined(separator: "\n")
    }
}
