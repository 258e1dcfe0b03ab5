#if canImport(Darwin)
internal import Darwin

extension CurrentProcess {
    static func trustedVariable(_ name: String) -> UnsafePointer<CChar>? {
        issetugid() == 0 ? UnsafePointer(getenv(name)) : nil
    }

    static func executablePath() -> String? { CommandLine.arguments.first }
}
#endif
