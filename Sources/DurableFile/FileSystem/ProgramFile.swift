#if os(Linux)
internal import CDurableFile

/// The file of the running program, as the system knows it.
package enum ProgramFile {
    /// Returns the path of the program's file, also if a dynamic loader was started with it; nil if it is unknown.
    package static func path() -> String? {
        let address = UInt64(durable_file_program_address())
        guard address != 0 else { return nil }
        let fileSystem = SystemFileSystem()
        var bytes: [UInt8] = []
        do {
            let file = try fileSystem.open("/proc/self/maps", for: .reading)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 1)
            defer { buffer.deallocate() }
            while true {
                let count = try fileSystem.read(file, into: buffer, at: Int64(bytes.count))
                if count == 0 { break }
                bytes += buffer[..<count]
            }
        } catch { return nil }
        return bytes.split(separator: 10).lazy.compactMap { path(in: $0, at: address) }.first
    }

    /// Returns the path of a mapping if it covers an address (proc_pid_maps(5)).
    private static func path(in line: ArraySlice<UInt8>, at address: UInt64) -> String? {
        let fields = line.split(separator: 32, maxSplits: 5, omittingEmptySubsequences: true)
        guard fields.count == 6, fields[5].drop(while: { $0 == 32 }).first == UInt8(ascii: "/") else { return nil }
        let range = fields[0].split(separator: UInt8(ascii: "-")).compactMap {
            UInt64(String(decoding: $0, as: UTF8.self), radix: 16)
        }
        guard range.count == 2, range[0] <= address, address < range[1] else { return nil }
        return withoutMark(PathText.string(fields[5].drop { $0 == 32 }))
    }

    /// Returns a path without the mark that the kernel gives that of a program that was replaced while it runs (proc(5)).
    package static func withoutMark(_ path: String) -> String {
        let mark = " (deleted)"
        return path.hasSuffix(mark) ? String(path.dropLast(mark.count)) : path
    }
}
#endif
