import Preferences

/// The output of `dconf dump`: a section for each folder, with keys and values in GVariant's text format.
enum DconfDump {
    static func contents(of bytes: [UInt8], _ title: String) throws -> [String: PropertyListValue?] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.damaged, "\(title) isn't a dconf dump: it isn't UTF-8")
        }
        var contents: [String: PropertyListValue?] = [:]
        var folder = ""
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            func damaged(_ reason: String) -> Failure {
                Failure(.damaged, "line \(index + 1) of \(title) can't be read as a dconf dump: \(reason)")
            }
            if line.isEmpty || line.first == "#" { continue }
            if line.first == "[" {
                guard line.last == "]", line.count > 2 else { throw damaged("the ] of the section is missing") }
                folder = line.dropFirst().dropLast().split(separator: "/").map { $0 + "/" }.joined()
                continue
            }
            guard let sign = line.firstIndex(of: "="), sign > line.startIndex else {
                throw damaged("it is neither a [section] nor a key=value")
            }
            do throws(TextProblem) {
                var reader = GVariantText(line[line.index(after: sign)...])
                contents.updateValue(try reader.whole(), forKey: folder + line[..<sign])
            } catch {
                throw damaged(error.reason)
            }
        }
        guard !contents.isEmpty else {
            throw Failure(.damaged, "\(title) is neither a JSON object nor a dconf dump: it has no name with a value")
        }
        return contents
    }
}
