@_spi(Tool) import Preferences
import Synchronization

extension Terminal {
    /// A file with damaged lines, and those that were reported, as a file may be opened more than once.
    private struct DamagedFile {
        var mark: FileMark?
        var isShown = false
        var lines: [ArraySlice<UInt8>] = []
        var reported: Set<String> = []
    }

    private static let damaged = Mutex<[String: DamagedFile]>([:])

    /// Writes an error of the library that keeps nothing from being done; a damaged line once, with the beginning of its text
    /// unless that may be a secret's.
    static func report(_ error: PreferencesError) {
        guard let line = error.damagedLine else { return warn("\(error)") }
        do {
            guard let text = try text(ofNew: line.number, in: line.path) else { return }
            guard !text.isEmpty else { return warn("\(error)") }
            // No more of it, as it may be a secret's that no schema tells of.
            warn("\(error). The line: \(text.prefix(60))\(text.count > 60 ? "…" : "")")
        } catch let failure {
            // It was read a moment ago, and can't be shown any more.
            warn("\(error). \(Failure(failure).message)")
        }
    }

    /// Returns the text of a damaged line, which is empty in a file with secrets, or `nil` if the line was reported already.
    private static func text(ofNew number: Int, in path: String) throws -> String? {
        let real = InputFile.realPath(path)
        return try damaged.withLock { damaged in
            var file = damaged[real] ?? DamagedFile()
            defer { damaged[real] = file }
            // Another program may have written it since, also in a run that takes long.
            let mark = FileMark(path: path)
            if mark != file.mark {
                (file.mark, file.lines) = (mark, try InputFile.lines(of: path))
                file.isShown = !mayHoldSecrets(path)
            }
            let text =
                file.lines.indices.contains(number - 1) ? String(decoding: file.lines[number - 1], as: UTF8.self) : ""
            return file.reported.insert("\(number) \(text)").inserted ? (file.isShown ? text : "") : nil
        }
    }

    /// Whether any line of a file may hold a secret, as one that broke in the middle may without the name.
    private static func mayHoldSecrets(_ path: String) -> Bool {
        do {
            return try !Redaction(Schema(firstOf: FilePlace.schemaPaths(near: path))).hidesNothing
        } catch {
            return true
        }
    }
}
