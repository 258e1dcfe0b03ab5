import Foundation
import Testing

@testable import Preferences

/// User defaults of a suite with a random name, which is removed with the object.
final class TemporaryDefaults: Sendable {
    let suite = "swift-preferences.test.\(UUID().uuidString)"
    let shared: SharedUserDefaults

    /// The user defaults over which this object's stores are created.
    var object: UserDefaults { shared.object }

    init() { shared = Self.open(suite) }

    deinit {
        object.removePersistentDomain(forName: suite)
        // Also removes the empty file that the system leaves.
        try? FileManager.default.removeItem(atPath: NSHomeDirectory() + "/Library/Preferences/\(suite).plist")
    }

    private static func open(_ suite: String) -> SharedUserDefaults {
        // Nil only for names that stand for other domains.
        // swift-format-ignore: NeverForceUnwrap
        SharedUserDefaults(object: UserDefaults(suiteName: suite)!)
    }

    /// Returns another object over the same suite, as another part of the program might create.
    func reopened() -> SharedUserDefaults { Self.open(suite) }

    /// Creates a store over these defaults; each call creates another one.
    func store() -> PreferenceStore { .userDefaults(object) }

    /// Creates a store that first checks whether the defaults can be read.
    func store(protection: DataProtection) -> PreferenceStore {
        PreferenceStore(shared, protection: protection, observer: KeyValueObserver.make)
    }

    func set(_ value: Any?, forKey name: String) { object.set(value, forKey: name) }
    func integer(forKey name: String) -> Int { object.integer(forKey: name) }
    func data(forKey name: String) -> Data? { object.data(forKey: name) }

    /// Runs `/usr/bin/defaults COMMAND SUITE ARGUMENTS` and waits for its end.
    func run(_ command: String, _ arguments: String...) async throws {
        let process = Foundation.Process()
        process.executableURL = URL(filePath: "/usr/bin/defaults")
        process.arguments = [command, suite] + arguments
        process.standardError = FileHandle.nullDevice
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        try #require(status == 0, "defaults \(command) \(arguments)")
    }
}

/// Tests that also run on Linux use this name: there it is a class that notifies observers itself.
typealias ObservableDefaults = TemporaryDefaults

/// Recorded elements, in order.
final class Log<Element: Sendable>: Sendable {
    private let entries = Lock<[Element]>([])

    var all: [Element] { entries.withLock { $0 } }

    func append(_ element: Element) { entries.withLock { $0.append(element) } }
}

/// Waits until a condition holds, and records an issue if it doesn't within a minute.
///
/// Each round yields to other tasks, and on the main actor to the run loop, which delivers the changes of other processes.
nonisolated(nonsending) func wait(
    for comment: Comment,
    sourceLocation: SourceLocation = #_sourceLocation,
    until condition: () throws -> Bool
) async rethrows {
    let end = ContinuousClock.now + .seconds(60)
    while try !condition() {
        guard ContinuousClock.now < end else {
            Issue.record(comment, sourceLocation: sourceLocation)
            return
        }
        await Task.yield()
    }
}
