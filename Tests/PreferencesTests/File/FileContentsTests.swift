import DurableFile
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
        #expect(reading == .complete)
    }

    /// Reads a file that another process has compacted into this line.
    private func replace(with line: String) {
        let fresh = FileContents()
        read(line, into: fresh)
        contents.replace(with: fresh)
    }

    /// Publishes as the source does with the turn.
    private func publish() {
        values.set(contents.collectDifferences() ?? [:])
    }

    @Test
    func aChangeThatIsRevertedBeforeItIsPublishedIsReported() throws {
        read(#"{"x":2}"#, into: contents)
        let told = try #require(contents.collectDifferences())
        #expect(told == ["x": 2] && !contents.hasChanges)
        read(#"{"x":1}"#, into: contents)
        #expect(contents.hasChanges)
        values.set(told)
        publish()
        #expect(values["x"] == 1 && !contents.hasChanges)
    }

    @Test
    func aFileThatIsReplacedBeforeAChangeIsPublishedIsReported() throws {
        read(#"{"x":2}"#, into: contents)
        let told = try #require(contents.collectDifferences())
        replace(with: #"{"x":1,"y":1}"#)
        #expect(contents.hasChanges)
        values.set(told)
        publish()
        #expect(values["x"] == 1)
    }

    @Test(arguments: [#"{"x":1,"y":1}"#, #"{"y":1}"#])
    func aFileThatIsReplacedBeforeASetIsPublishedIsReported(line: String) throws {
        let set = ValueChanges.one("x", 2)
        let difference = contents.difference(of: set)
        guard case .published(let changed) = difference else { throw CancellationError() }
        contents.store(difference, of: set)
        replace(with: line)
        #expect(contents.hasChanges)
        values.make(changed)
        publish()
        #expect(values["x"] == (line.contains("x") ? 1 : nil) && values["y"] == 1)
    }

    @Test
    func aPublishedSetIsNotReported() {
        let set = ValueChanges.one("x", 2)
        let difference = contents.difference(of: set)
        contents.store(difference, of: set)
        values.set(2, for: "x")
        read(#"{"y":1}"#, into: contents)
        #expect(!contents.hasChanges)
        publish()
        #expect(values["x"] == 2)
    }
}
