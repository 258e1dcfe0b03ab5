// error: missing return in global function expected to return 'String'
#if canImport(Darwin)
internal import Darwin

func home() -> String {
    if let home = getenv("HOME") { return String(cString: home) }
}
#endif
