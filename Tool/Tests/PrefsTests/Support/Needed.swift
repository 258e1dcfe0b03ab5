import Foundation
import Testing

/// Programs of others that a test needs.
enum Needed {
    /// The path of a program; nil, said aloud, where it is missing, and a failure where everything must be there.
    static func path(of name: String) -> String? {
        for folder in ["/usr/bin", "/bin", "/usr/local/bin"] as [String] {
            let path = folder + "/" + name
            if access(path, X_OK) == 0 { return path }
        }
        print("SKIPPED: a test needs \(name)")
        if ProcessInfo.processInfo.environment["CI"] == "true" { Issue.record("\(name) is missing; install it") }
        return nil
    }
}
