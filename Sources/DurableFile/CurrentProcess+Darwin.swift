#if canImport(Darwin)
extension CurrentProcess {
    static func executablePath() -> String? { CommandLine.arguments.first }
}
#endif
