import Preferences
import PreferencesInspection

/// The formats of files that can be imported, recognized by how the file begins.
enum ImportSource {
    private enum Format {
        case propertyList, json, defaultsText

        init?(_ bytes: [UInt8]) {
            let text = bytes.withoutLeadingSpace
            switch text.first {
            case _ where bytes.starts(with: "bplist".utf8), UInt8(ascii: "<"): self = .propertyList
            case UInt8(ascii: "{"): self = DefaultsText.begins(text) ? .defaultsText : .json
            // A comment before an object.
            case UInt8(ascii: "/"): self = .json
            default: return nil
            }
        }
    }

    /// Returns the values that a source sets; `nil` removes a value.
    ///
    /// - Parameter schema: The types of the program's preferences, for a format without types.
    static func changes(in path: String, schema: Schema?) throws -> [String: PropertyListValue?] {
        let bytes = try InputFile.bytes(of: path)
        let title = path == "-" ? "standard input" : path
        guard !bytes.withoutLeadingSpace.isEmpty else { throw Failure(.damaged, "\(title) is empty") }
        guard let format = Format(bytes) else {
            throw Failure(
                .damaged,
                "\(title) can't be imported; name a JSON object, JSON lines, a property list, or the output of `defaults read`"
            )
        }
        return try changes(in: bytes, format, title, schema)
    }

    /// Returns the values of a file in another format; `nil` for a preferences file and for an unknown format.
    static func contents(of path: String, schema: Schema?) throws -> [String: PropertyListValue]? {
        let bytes = try InputFile.bytes(of: path)
        guard let format = Format(bytes), format != .json || isObject(bytes) else { return nil }
        return try changes(in: bytes, format, path, schema).compactMapValues { $0 }
    }

    private static func changes(
        in bytes: [UInt8],
        _ format: Format,
        _ title: String,
        _ schema: Schema?
    ) throws -> [String: PropertyListValue?] {
        switch format {
        case .propertyList: try PropertyListParser.contents(of: bytes, title)
        case .json: try json(bytes, title)
        case .defaultsText: try DefaultsText.contents(of: bytes, title, schema: schema)
        }
    }

    /// Returns the values of one object, on any number of lines, or of one object on each line.
    private static func json(_ bytes: [UInt8], _ title: String) throws -> [String: PropertyListValue?] {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        do throws(PreferenceError) {
            return try PreferenceText.changes(in: bytes)
        } catch {
            // If the first line is an object, each line is one.
            guard lines.count > 1, let first = lines.first(where: { !$0.isEmpty }), isObject(Array(first)) else {
                return try foreignJSON(bytes, title)
            }
        }
        var changes: [String: PropertyListValue?] = [:]
        for (index, line) in lines.enumerated() {
            do throws(PreferenceError) {
                changes.merge(try PreferenceText.changes(in: Array(line))) { _, last in last }
            } catch {
                throw Failure(.damaged, "line \(index + 1) of \(title) can't be read: \(error.message)")
            }
        }
        return changes
    }

    /// Returns the values of one object as another program writes it.
    private static func foreignJSON(
        _ bytes: [UInt8],
        _ title: String
    ) throws -> [String: PropertyListValue?] {
        do throws(PreferenceError) {
            return try PreferenceText.foreignChanges(in: bytes)
        } catch {
            throw Failure(.damaged, "\(title) can't be read as JSON: \(error.message)")
        }
    }

    private static func isObject(_ line: [UInt8]) -> Bool {
        do throws(PreferenceError) {
            _ = try PreferenceText.changes(in: line)
            return true
        } catch {
            return false
        }
    }
}

extension [UInt8] {
    /// The bytes without white space and byte order marks at the start.
    var withoutLeadingSpace: ArraySlice<UInt8> {
        drop { " \t\r\n".utf8.contains($0) || [0xEF, 0xBB, 0xBF].contains($0) }
    }
}
