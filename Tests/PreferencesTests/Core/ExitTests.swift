import Foundation
import TestSupport
import Testing

@testable import Preferences

/// A normal exit of a program, in a process of its own: what is kept is stored, or printed.
struct ExitTests {
    /// A place that prints what it stores, and can be full.
    private final class Place: PreferenceBackend {
        let place = "a place of a test"
        let saysWhenItWaits = true
        let isFull = Lock(true)

        func load(host: PreferenceBackendHost, until deadline: PreferenceDeadline) -> [StoredChange] { [] }
        func catchUp(until deadline: PreferenceDeadline) -> ExternalChanges { .none }

        func change(until deadline: PreferenceDeadline, _ body: (ExternalChanges) throws -> [StoredChange]) throws {
            let changes = try body(.none)
            if isFull.withLock({ $0 }) { throw PreferenceError(.noSpace, "no space is left; nothing was changed") }
            for change in changes { FileHandle.standardError.write(Data("stored \(change.name)\n".utf8)) }
        }
    }

    private func lines(_ result: ExitTest.Result) -> [Substring] {
        String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n").filter {
            $0.contains("stored")
        }
    }

    @Test
    func keptValueThatCanNotBeStoredIsPrintedWithItsNameAndTheCause() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let store = PreferenceStore(backend: Place())
            store.issueHandler = { _ in }
            store["volume"] = 7
            exit(0)
        }
        let lines = lines(result)
        #expect(
            lines.count == 1 && lines[0].contains("\"volume\"") && lines[0].contains("no space is left"),
            "\(lines)"
        )
    }

    @Test
    func keptValueIsStoredAlsoIfItsStoreIsGone() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let place = Place()
            do {
                let store = PreferenceStore(backend: place)
                store.issueHandler = { _ in }
                store["volume"] = 7
            }
            place.isFull.withLock { $0 = false }
            exit(0)
        }
        same(lines(result), ["stored volume"])
    }

    /// The exit waits until the deadline, which begins once for all stores.
    @Test
    func exitWaitsForALockedPlaceUntilItsDeadline() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let database = Database()
            let stores = (0..<3).map { _ in
                PreferenceStore(backend: LockedBackend(database, timeout: .milliseconds(300)))
            }
            for store in stores { try await store.load() }
            _ = database.tryLock()
            for (index, store) in stores.enumerated() { store["volume \(index)"] = 7 }
            exit(0)
        }
        let lines = lines(result)
        same(lines.count { $0.contains("is locked") || $0.contains("was in use") }, 3, "\(lines)")
    }

    @Test
    func exitStoresWhenThePlaceIsUnlocked() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let database = Database()
            let store = PreferenceStore(backend: LockedBackend(database, timeout: .seconds(60)))
            try await store.load()
            database.observe {
                FileHandle.standardError.write(Data("stored \(database["volume"] == 7)\n".utf8))
            }
            _ = database.tryLock()
            store["volume"] = 7
            // Unlocked once the exit waits, or before.
            _ = Pool.startThread {
                pauseThread(for: .microseconds(50_000))
                database.unlock()
            }
            exit(0)
        }
        same(lines(result), ["stored true"])
    }
}
