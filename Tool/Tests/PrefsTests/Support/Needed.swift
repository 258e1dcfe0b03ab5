import Foundation
import Testing

/// Installed programs that a test needs.
enum Needed {
    /// Returns the path of a program, or `nil` if it is missing, which is printed, and is a failure in CI.
    static func path(of name: String) -> String? {
        for folder in ["/usr/bin", "/bin", "/usr/local/bin"] as [String] {
            let path = folder + "/" + name
            if access(path, X_OK) == 0 { return path }
        }
        report(name)
        return nil
    }

    /// Prints that something is missing, which is a failure in CI.
    static func report(_ name: String) {
        print("SKIPPED: a test needs \(name)")
        if ProcessInfo.processInfo.environment["CI"] == "true" { Issue.record("\(name) is missing; install it") }
    }
}
