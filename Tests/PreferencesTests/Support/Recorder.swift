import FileTestSupport
import Observation
import Preferences

/// The elements that observers received, in order; any thread can add one.
final class Recorder<Element: Sendable>: Sendable {
    private let recorded = Lock<[Element]>([])

    func record(_ element: Element) {
        recorded.withLock { $0.append(element) }
    }

    var elements: [Element] { recorded.withLock { $0 } }

    /// Removes the elements and returns them.
    func drain() -> [Element] {
        recorded.withLock { recorded in
            defer { recorded = [] }
            return recorded
        }
    }
}

extension PreferenceStore {
    /// Replaces the issue handler by one that records the issues, and returns what it records.
    func recordIssues() -> Recorder<PreferenceError> {
        let issues = Recorder<PreferenceError>()
        issueHandler = { issues.record($0) }
        return issues
    }
}

/// Lets Observation track what a closure reads; returns the number of its signals.
func countSignals(of read: () -> Void) -> Counter {
    let signals = Counter()
    withObservationTracking(read) { signals.next() }
    return signals
}
