#if os(Linux)
internal import CDurableFile

extension CurrentProcess {
    static func trustedVariable(_ name: String) -> UnsafePointer<CChar>? { durable_file_trusted_variable(name) }

    static func executablePath() -> String? {
        do {
            let path = try SystemFileSystem().target(ofLinkAt: "/proc/self/exe")
            // The kernel's mark of a program that was replaced while it runs (proc(5)).
            let mark = " (deleted)"
            return path.hasSuffix(mark) ? String(path.dropLast(mark.count)) : path
        } catch {
            // No /proc in this container: what the program was called as.
            return CommandLine.arguments.first
        }
    }
}
#endif
