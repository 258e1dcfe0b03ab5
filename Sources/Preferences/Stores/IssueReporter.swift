internal import DurableFile

/// Who is told of what can't be thrown.
final class IssueReporter: Sendable {
    typealias Handler = @Sendable (PreferencesError) -> Void

    private let handler = Lock<Handler?>(nil)
    private static let standard = Lock<Handler>({ writeToLog($0) })

    func setHandler(_ handler: Handler?) {
        self.handler.withLock { $0 = handler }
    }

    func report(_ error: PreferencesError) {
        let handler = handler.withLock { $0 } ?? Self.standardHandler
        handler(error)
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
    /// has one handler: a later call replaces it.
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
