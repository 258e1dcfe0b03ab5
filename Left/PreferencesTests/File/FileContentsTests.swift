import TestSupport
import Testing

@testable import Preferences

/// The contents of a file while one of its values is about to be published.
struct FileContentsTests {
    private let contents = FileContents()
    private let values = StoredValues()

    init() {
        read(#"{"x":1,"y":1}"#, into: contents)
        values.moveValues(from: contents.load())
        contents.adopt(values)
    }

    private func read(_ line: String, into contents: FileContents) {
        let reading = Array(line.utf8).withUnsafeBytes { contents.read($0, isFirst: false) }
        same(reading, .complete)
    }

    /// Reads a file that another process has compacted into this line.
    private func replace(with line: String) {
        let fresh = FileContents()
        read(line, into: fresh)
        contents.replace(with: fresh)
    }

    /// Publishes as the source does with the turn; returns what it published.
    @discardableResult
    private func publish(_ body: () -> Void = {}) -> [[String: PropertyListValue?]] {
        var published: [[String: PropertyListValue?]] = []
        while let batch = values.withInbox({ $0.next() }) {
            if published.isEmpty { body() }
            values.set(batch.dictionary)
            published.append(batch.dictionary)
        }
        return published
    }

    @Test
    func aChangeThatIsRevertedBeforeItIsPublishedIsReported() {
        read(#"{"x":2}"#, into: contents)
        let published = publish {
            #expect(!contents.hasChanges)
            read(#"{"x":1}"#, into: contents)
            #expect(contents.hasChanges)
        }
        #expect(published == [["x": 2], ["x": 1]] && values["x"] == 1 && !contents.hasChanges)
    }

    @Test
    func aFileThatIsReplacedBeforeAChangeIsPublishedIsReported() {
        read(#"{"x":2}"#, into: contents)
        let published = publish {
            replace(with: #"{"x":1,"y":1}"#)
            #expect(contents.hasChanges)
        }
        #expect(published == [["x": 2], ["x": 1]] && values["x"] == 1)
    }

    @Test(arguments: [#"{"x":1,"y":1}"#, #"{"y":1}"#])
    func aFileThatIsReplacedBeforeASetIsPublishedIsReported(line: String) throws {
        let set = ValueChanges.one("x", 2)
        #expect(try contents.line(of: set) != nil)
        contents.noteWritten(set)
        replace(with: line)
        #expect(contents.hasChanges)
        let published = publish()
        same(published.first, ["x": 2])
        #expect(values["x"] == (line.contains("x") ? 1 : nil) && values["y"] == 1)
    }

    @Test
    func aPublishedSetIsNotReported() throws {
        let set = ValueChanges.one("x", 2)
        #expect(try contents.line(of: set) != nil)
        contents.noteWritten(set)
        publish()
        read(#"{"y":1}"#, into: contents)
        #expect(!contents.hasChanges)
        #expect(publish().isEmpty && values["x"] == 2)
    }
}
