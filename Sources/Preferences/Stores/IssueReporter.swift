internal import DurableFile

/// Who is told of what can't be thrown.
final class IssueReporter: Sendable {
    typealias Handler = @Sendable (PreferencesError) -> Void

    private struct State {
        var handler: Handler?
        /// Of the layered stores that show this store's values.
        var above: [Above] = []
    }

    private struct Above {
        weak var reporter: IssueReporter?
    }

    private let state = Lock(State())
    private static let standard = Lock<Handler>({ writeToLog($0) })

    func setHandler(_ handler: Handler?) {
        state.withLock { $0.handler = handler }
    }

    /// Leaves issues to the handlers of a layered store too, as long as this store has none of its own.
    func forward(to reporter: IssueReporter) {
        let known = state.withLock { state in
            let known = state.above.map(\.reporter)
            state.above = zip(state.above, known).filter { $0.1 != nil && $0.1 !== reporter }.map(\.0)
            state.above.append(Above(reporter: reporter))
            return known
        }
        // Let go of without the lock: one may be the last to hold a handler.
        withExtendedLifetime(known) {}
    }

    func report(_ error: PreferencesError) {
        let handlers = handlers
        for handler in handlers.isEmpty ? [Self.standardHandler] : handlers { handler(error) }
    }

    private var handlers: [Handler] {
        let (handler, above) = state.withLock { ($0.handler, $0.above.compactMap(\.reporter)) }
        return handler.map { [$0] } ?? above.flatMap(\.handlers)
    }

    static var standardHandler: Handler {
        get { standard.withLock { $0 } }
        set { standard.withLock { $0 = newValue } }
    }
}

extension PreferenceStore {
    /// Sets who is told of unreadable values, refused sets that can't throw, and damage; nil for the default handler.
    ///
    /// The handler is called on the thread where the issue arose, without a lock held, and may use the store. One store
    /// has one handler: a later call replaces it. A layered store's also gets what its layers find, such as a damaged
    /// line of a file, unless the layer has a handler of its own.
    public func onIssue(_ handler: (@Sendable (PreferencesError) -> Void)?) {
        resolved.issues.setHandler(handler)
    }

    /// Who is told of the issues of stores that have no handler of their own.
    ///
    /// At first it writes to the log: `os.Logger` on Apple platforms, standard error elsewhere.
    public static var defaultIssueHandler: @Sendable (PreferencesError) -> Void {
        get { IssueReporter.standardHandler }
        set { IssueReporter.standardHandler = newValue }
    }

    func report(_ error: PreferencesError) {
        issues.report(error)
    }

    /// Reports what could not be read, once for each stored value and kind of reader.
    func report(unreadable problems: [PreferencesError], name: String, key: SlotKey) {
        guard !problems.isEmpty, state.withLock({ $0.isFirstReport(on: name, by: key) }) else { return }
        for problem in problems { report(problem) }
    }
}
