import Foundation

@testable import Preferences

/// Reads and writes lines as text, and as lists that can be compared.
enum Line {
    struct Entry: Equatable {
        let name: String
        let value: PropertyListValue?
    }

    static func read(_ line: String, isFirst: Bool = false) throws(JSONLineError) -> [Entry] {
        try read(Array(line.utf8), isFirst: isFirst)
    }

    static func read(
        _ line: [UInt8],
        isFirst: Bool = false,
        isStrict: Bool = false,
        maximumLength: Int = JSONLine.maximumLength
    ) throws(JSONLineError) -> [Entry] {
        var entries: [Entry] = []
        // Of the same length as the line, so that the address sanitizer finds a read beyond it.
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: line.count, alignment: 1)
        defer { bytes.deallocate() }
        bytes.copyBytes(from: line)
        let buffer = UnsafeRawBufferPointer(bytes)
        try JSONLine.read(buffer, isFirst: isFirst, isStrict: isStrict, maximumLength: maximumLength) { name, value in
            entries.append(Entry(name: name, value: value))
        }
        return entries
    }

    static func readValue(_ text: String) throws(JSONLineError) -> PropertyListValue {
        var text = text
        let result: Result<PropertyListValue, JSONLineError> = text.withUTF8 { bytes in
            Result { () throws(JSONLineError) in try JSONLine.readValue(UnsafeRawBufferPointer(bytes)) }
        }
        return try result.get()
    }

    static func write(_ changes: [String: PropertyListValue?]) throws(PreferenceError) -> String {
        var bytes: [UInt8] = []
        try JSONLine.write(changes, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func write(_ name: String, _ value: PropertyListValue?) throws(PreferenceError) -> String {
        var bytes: [UInt8] = []
        try JSONLine.write(name: name, value: value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func writeValue(_ value: PropertyListValue) throws(PreferenceError) -> String {
        var bytes: [UInt8] = []
        try JSONLine.writeValue(value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension PropertyListValue {
    static func date(secondsSince2001 seconds: Double) -> PropertyListValue {
        .date(Date(timeIntervalSinceReferenceDate: seconds))
    }

    static func nestedArrays(_ levels: Int) -> PropertyListValue {
        (1..<levels).reduce(.array([])) { value, _ in .array([value]) }
    }

    static func nestedDictionaries(_ levels: Int) -> PropertyListValue {
        (1..<levels).reduce(.dictionary([:])) { value, _ in .dictionary(["": value]) }
    }
}
