internal import CDurableFile

/// The form of paths as strings: each byte that is no part of UTF-8 text is a character that no name has, so that every
/// path of the system can be used and none is changed.
package enum PathText {
    // U+10FF80 to U+10FFFF, in planes for private use: F4 8F, BE or BF, and a last byte.
    private static let escape = 0x10_FF00

    /// Returns the string for the bytes of a path up to a NUL.
    package static func string(_ text: UnsafePointer<CChar>) -> String {
        if let string = String(validatingCString: text), !hasEscapes(string) { return string }
        return string(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }

    /// Returns the string for the bytes of a path.
    package static func string(_ bytes: some Collection<UInt8>) -> String {
        if let string = String(validating: bytes, as: UTF8.self), !hasEscapes(string) { return string }
        durable_file_note_escaped_path()
        var result = String.UnicodeScalarView()
        var rest = Array(bytes)[...]
        while let first = rest.first {
            let length = (1...4).first { length in
                String(validating: rest.prefix(length), as: UTF8.self).map { !hasEscapes($0) } ?? false
            }
            if let length {
                result += String(decoding: rest.prefix(length), as: UTF8.self).unicodeScalars
                rest = rest.dropFirst(length)
            } else {
                if let scalar = Unicode.Scalar(UInt32(escape + Int(first))) { result.append(scalar) }
                rest = rest.dropFirst()
            }
        }
        return String(result)
    }

    /// Returns whether a path has characters that stand for bytes, or look as if they did.
    package static func hasEscapes(_ string: String) -> Bool {
        string.unicodeScalars.contains { $0.value >= escape + 0x80 }
    }

    /// Returns the bytes of a path if they aren't UTF-8.
    package static func bytesOfNoText(_ path: String) -> [UInt8]? {
        guard durable_file_has_escaped_paths(), hasEscapes(path) else { return nil }
        return path.withPath { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }

    /// Returns a path, or a message with paths, with each byte that is no text as in `\\xFF`.
    package static func shown(_ path: String) -> String {
        guard durable_file_has_escaped_paths(), hasEscapes(path) else { return path }
        return path.unicodeScalars.reduce(into: "") { shown, scalar in
            if scalar.value >= escape + 0x80 {
                shown += "\\x" + String(Int(scalar.value) - escape, radix: 16, uppercase: true)
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
    }
}

extension String {
    /// Calls `body` with the bytes of a path.
    package func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        withCString { text in
            // A path is looked at with each write, and hardly any program has such a path.
            guard durable_file_has_escaped_paths() else { return body(text) }
            return Self.withBytes(ofPath: text, body)
        }
    }

    private static func withBytes<Result>(
        ofPath text: UnsafePointer<CChar>,
        _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        let text = UnsafeRawBufferPointer(start: text, count: strlen(text))
        var bytes: [CChar] = []
        var index = 0
        while index < text.count {
            let isEscape = text[index] == 0xF4 && index + 3 < text.count && text[index + 1] == 0x8F
            if isEscape, text[index + 2] >= 0xBE {
                let byte = (text[index + 2] == 0xBE ? 0x80 : 0xC0) | text[index + 3] & 0x3F
                bytes.append(CChar(bitPattern: byte))
                index += 4
            } else {
                bytes.append(CChar(bitPattern: text[index]))
                index += 1
            }
        }
        bytes.append(0)
        return bytes.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map(body) ?? "".withCString(body)
        }
    }
}
