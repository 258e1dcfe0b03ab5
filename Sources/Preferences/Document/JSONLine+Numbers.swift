// Where a file has its values, for messages.

extension JSONLine {
    /// Returns the number of the line that last set each name, from 1.
    ///
    /// Lines that can't be read are skipped, as by every reader.
    ///
    /// - Parameter joinsLines: Whether an object over several lines is read, as in managed and system files; its first line counts.
    package static func numbers(in bytes: [UInt8], joinsLines: Bool) -> [String: Int] {
        bytes.withUnsafeBytes { bytes in
            var lines: [String: Int] = [:]
            var (start, number) = (0, 1)
            while start < bytes.count {
                var end = bytes[start...].firstIndex(of: 10) ?? bytes.count
                let first = number
                func note(_ line: Slice<UnsafeRawBufferPointer>) throws(JSONLineError) {
                    try JSONLine.read(UnsafeRawBufferPointer(rebasing: line), isFirst: first == 1) { name, value in
                        lines[name] = value == nil ? nil : first
                    }
                }
                do throws(JSONLineError) { try note(bytes[start..<end]) } catch {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                    if joinsLines, error.kind == .incomplete,
                        let length = JSONLine.lengthOfObject(rest, isFirst: first == 1)
                    {
                        let object = bytes[start..<start + length]
                        end = bytes[object.endIndex...].firstIndex(of: 10) ?? bytes.count
                        number += object.count { $0 == 10 }
                        do throws(JSONLineError) { try note(object) } catch {
                            // A damaged object has no names.
                        }
                    }
                }
                number += 1
                start = end + 1
            }
            return lines
        }
    }
}
