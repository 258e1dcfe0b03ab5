#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The programs of this package that its tests start.
package enum BuiltProgram {
    /// Returns the path of a program that the build has put next to the test bundle.
    package static func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    #if canImport(Darwin)
    private final class InTheBundle {}

    // The process is Apple's own test runner there, which loads the bundle.
    private static var folder: URL { Bundle(for: InTheBundle.self).bundleURL.deletingLastPathComponent() }
    #else
    private static var folder: URL { URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent() }
    #endif
}
