// The texts of files that are only read.

/// The content of a file that is only read.
struct ReadOnlyText {
    /// The values in the order of the text, of which the later ones count, each with the number of its line.
    private(set) var entries: [(change: StoredChange, line: Int)] = []
    /// The parts that can't be read and are left out.
    private(set) var damage: [PreferenceError] = []
    /// Why the text can't be used at all.
    private(set) var error: PreferenceError?
    /// Whether the text ends before its last object does.
    private(set) var isUnfinished = false

    init() {}

    /// Creates the text of lines, each of which is an object, or the first one of an object over several lines.
    init(lines text: [UInt8], of path: String) {
        var hasEntry = false
        text.withUnsafeBytes { text in
            var (start, number) = (0, 1)
            while start < text.count {
                var end = text[start...].firstIndex(of: 10) ?? text.count
                let first = number
                do throws(JSONLineError) { try read(text[start..<end], first) } catch {
                    let rest = UnsafeRawBufferPointer(rebasing: text[start...])
                    if error.kind == .incomplete, text.count <= Self.longestJoined,
                        let length = JSONLine.lengthOfObject(rest, isFirst: first == 1)
                    {
                        number += text[start..<start + length].count { $0 == 10 }
                        end = text[(start + length)...].firstIndex(of: 10) ?? text.count
                        do throws(JSONLineError) { try read(text[start..<end], first) } catch {
                            note(error, path, first)
                        }
                    } else {
                        if error.kind == .incomplete { isUnfinished = true }
                        if rest.starts(with: "{\"".utf8) { hasEntry = true }
                        note(error, path, first)
                    }
                }
                (start, number) = (end + 1, number + 1)
            }
            if text.isEmpty { isUnfinished = true }
        }
        if error == nil, !damage.isEmpty, entries.isEmpty, !hasEntry {
            error = PreferenceError(
                .unknownFormat,
                "\(path) isn't a preferences file, because no line of it is an object of names and values. Correct it, or move it away"
            )
        }
    }

    /// The length of a file above which an object over several lines is damage, as each line of it might have to be read to the end.
    private static let longestJoined = 256 << 10

    private mutating func read(_ line: Slice<UnsafeRawBufferPointer>, _ number: Int) throws(JSONLineError) {
        try JSONLine.read(UnsafeRawBufferPointer(rebasing: line), isFirst: number == 1) { name, value in
            entries.append((StoredChange(name, value), number))
        }
    }

    private mutating func note(_ cause: JSONLineError, _ path: String, _ line: Int) {
        if cause.kind == .unknownFormat {
            error = PreferenceError(
                .unknownFormat,
                "\(path) can't be used by this version of the program: line \(line): \(cause.reason)"
            )
        }
        damage.append(
            PreferenceError(
                damagedLine: line,
                of: path,
                "line \(line) of \(path) can't be read and is skipped: \(cause). It is kept; correct it by hand or leave it"
            )
        )
    }

    /// Creates the text of one object with comments, as people write settings.
    init(object text: [UInt8], of path: String) {
        let object = ForeignJSON(text)
        func issue(_ cause: JSONLineError, _ outcome: String) -> PreferenceError {
            let place = ForeignJSON.place(of: cause.offset, in: text)
            return PreferenceError(
                damagedLine: place.line,
                of: path,
                "line \(place.line), column \(place.column) of \(path) can't be read: \(cause.reason). Correct it by hand; \(outcome)"
            )
        }
        do throws(JSONLineError) {
            let (changes, errors) = try object.readable(isStrict: false)
            let lines = object.lines
            entries = changes.map { (StoredChange($0.key, $0.value), lines[$0.key] ?? 1) }
            damage = errors.map { issue($0, "the value is left out") }
        } catch {
            isUnfinished = object.isUnfinished
            self.error = issue(error, "what was read before stays in force")
        }
    }
}

extension PreferenceError {
    /// Creates the issue of a line that can't be read.
    init(damagedLine line: Int, of path: String, _ message: String) {
        self.init(.damaged, message)
        damagedLine = (path, line)
    }
}
