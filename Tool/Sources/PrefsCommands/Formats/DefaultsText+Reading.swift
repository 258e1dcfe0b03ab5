import Preferences

/// The reason why a text can't be read.
struct TextProblem: Error {
    let reason: String
}

extension DefaultsText {
    mutating func skipSpace() {
        while let next = rest.first, next.properties.isWhitespace { rest.removeFirst() }
    }

    /// Reads a scalar, with the white space before it, if it is the next one; returns whether it is.
    mutating func takes(_ scalar: Unicode.Scalar) -> Bool {
        skipSpace()
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    mutating func expect(_ scalar: Unicode.Scalar) throws(TextProblem) {
        guard takes(scalar) else {
            // Only one character of the text, as it might be a secret.
            throw TextProblem(reason: "\(scalar) is missing before \(rest.first.map { "\"\($0)\"" } ?? "the end")")
        }
    }

    /// Reads elements that commas separate, between two brackets.
    mutating func list(
        from start: Unicode.Scalar,
        to end: Unicode.Scalar,
        _ element: (inout Self) throws(TextProblem) -> PropertyListValue
    ) throws(TextProblem) -> [PropertyListValue] {
        try expect(start)
        var elements: [PropertyListValue] = []
        while !takes(end) {
            elements.append(try element(&self))
            if takes(end) { break }
            try expect(",")
        }
        return elements
    }

    /// Reads the next scalar of a string, and whether a backslash precedes it; `nil` at the end of the string.
    mutating func next(before quote: Unicode.Scalar) throws(TextProblem) -> (Unicode.Scalar, isEscaped: Bool)? {
        guard let scalar = rest.popFirst() else {
            throw TextProblem(reason: "the quote at the end of a string is missing")
        }
        if scalar == quote { return nil }
        guard scalar == "\\" else { return (scalar, false) }
        guard let escaped = rest.popFirst() else { throw TextProblem(reason: "a backslash is at the end") }
        return (escaped, true)
    }
}

extension Unicode.Scalar {
    /// The scalar that this one means after a backslash.
    var unescaped: Unicode.Scalar {
        switch self {
        case "a": "\u{7}"
        case "b": "\u{8}"
        case "f": "\u{C}"
        case "n": "\n"
        case "r": "\r"
        case "t": "\t"
        case "v": "\u{B}"
        default: self
        }
    }
}
