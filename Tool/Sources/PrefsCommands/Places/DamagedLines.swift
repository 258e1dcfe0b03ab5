import Preferences
import PreferencesInspection
import Synchronization

extension Terminal {
    /// A file with damaged lines, and the lines that were reported: a file may be opened more than once.
    private struct DamagedFile {
        var mark: FileMark?
        var isShown = false
        var lines: [ArraySlice<UInt8>] = []
        var reported: Set<String> = []
    }

    private static let damaged = Mutex<[String: DamagedFile]>([:])

    /// Writes an error of the library that doesn't end the command to standard error: a damaged line once, with the beginning of
    /// its text unless that might be a secret.
    static func report(_ error: PreferenceError) {
        guard let line = PreferencesFile.damagedLine(of: error) else { return warn("\(error)") }
        do {
            guard let text = try text(ofNew: line.number, in: line.path) else { return }
            guard !text.isEmpty else { return warn("\(error)") }
            // Not the whole line, which might be a secret that no schema declares.
            warn("\(error). The line: \(text.prefix(60))\(text.count > 60 ? "…" : "")")
        } catch let failure {
            // The file was readable a moment ago, but no longer is.
            warn("\(error). \(Failure(failure).message)")
        }
    }

    /// Returns the text of a damaged line, empty in a file that might hold secrets, or `nil` if the line was reported already.
    private static func text(ofNew number: Int, in path: String) throws -> String? {
        let real = InputFile.realPath(path)
        return try damaged.withLock { damaged in
            var file = damaged[real] ?? DamagedFile()
            defer { damaged[real] = file }
            // Another program may have written the file since, for example while `prefs watch` runs.
            let mark = FileMark(path: path)
            if mark != file.mark {
                (file.mark, file.lines) = (mark, try InputFile.lines(of: path))
                file.isShown = !mayHoldSecrets(path)
            }
            let text =
                file.lines.indices.contains(number - 1) ? String(decoding: file.lines[number - 1], as: UTF8.self) : ""
            return file.reported.insert(text).inserted ? (file.isShown ? text : "") : nil
        }
    }

    /// Returns whether the file might hold secrets: a truncated line may hold one without its name.
    private static func mayHoldSecrets(_ path: String) -> Bool {
        do {
            return try !Redaction(Schema(firstOf: Schema.paths(near: path))).hidesNothing
        } catch {
            return true
        }
    }
}
