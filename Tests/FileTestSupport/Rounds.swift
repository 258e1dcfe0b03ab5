#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The number of rounds of a random or racing test: `full` if the environment variable `FULL_TESTS` is set, else a tenth.
///
/// `swift test` must be light enough to be run after every change; `make full-tests` runs all rounds.
package func rounds(_ full: Int) -> Int { isFullTest ? full : max(1, full / 10) }

/// Whether the environment asks for every round and every fault.
package let isFullTest = ProcessInfo.processInfo.environment["FULL_TESTS"] != nil
