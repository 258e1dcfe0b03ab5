@_spi(Tool) import Preferences

/// What may be imported, told apart by how it begins.
enum ImportSource {
    /// What the source sets; nil removes.
    static func changes(in path: String) throws -> [String: PropertyListValue?] {
        let bytes = try InputFile.bytes(of: path)
        let title = path == "-" ? "standard input" : path
        if bytes.starts(with: "bplist".utf8) { return try PropertyListParser.contents(of: bytes, title) }
        switch bytes.withoutLeadingSpace.first {
        case nil: throw Failure(.damaged, "\(title) is empty")
        case UInt8(ascii: "<"): return try PropertyListParser.contents(of: bytes, title)
        case UInt8(ascii: "{"): return try json(bytes, title)
        case UInt8(ascii: "["): return try DconfDump.contents(of: bytes, title)
        default:
            throw Failure(
                .damaged,
                "\(title) is none of what can be imported: a JSON object, JSON lines, a property list, a dconf dump"
            )
        }
    }

    /// One object over as many lines as it likes, or one a line.
    private static func json(_ bytes: [UInt8], _ title: String) throws -> [String: PropertyListValue?] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        do throws(PreferencesError) {
            return try PreferenceText.changes(in: bytes)
        } catch {
            // Where the first line stands alone, the lines do.
            guard lines.count > 1, let first = lines.first(where: { !$0.isEmpty }), isObject(Array(first)) else {
                throw Failure(.damaged, "\(title) can't be read as JSON: \(error.message)")
            }
        }
        var changes: [String: PropertyListValue?] = [:]
        for (index, line) in lines.enumerated() {
            do throws(PreferencesError) {
                changes.merge(try PreferenceText.changes(in: Array(line))) { _, last in last }
            } catch {
                throw Failure(.damaged, "line \(index + 1) of \(title) can't be read: \(error.message)")
            }
        }
        return changes
    }

    private static func isObject(_ line: [UInt8]) -> Bool {
        do throws(PreferencesError) {
            _ = try PreferenceText.changes(in: line)
            return true
        } catch {
            return false
        }
    }
}

extension [UInt8] {
    /// Without space, ends of lines and byte order marks before the first character.
    var withoutLeadingSpace: ArraySlice<UInt8> {
        drop { " \t\r\n".utf8.contains($0) || [0xEF, 0xBB, 0xBF].contains($0) }
    }
}
