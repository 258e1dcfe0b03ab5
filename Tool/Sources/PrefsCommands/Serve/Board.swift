import Synchronization

/// The texts that all pages show, with the version in which each last changed, so that a page that comes late or reads
/// slowly gets the newest state alone.
///
/// Every function may be called on any thread.
package final class Board: Sendable {
    private let state: Mutex<State>

    private struct State {
        var version = 1
        var title: String
        var undo = (text: "null", version: 1)
        var suites: [String: Suite] = [:]
        var pages: [Int: AsyncStream<Void>.Continuation] = [:]
        var nextPage = 0
    }

    /// A suite; every text is JSON.
    private struct Suite {
        /// nil once the suite is gone.
        var info: String?
        var infoVersion = 0
        /// The rows; one without a text is gone.
        var rows: [String: (text: String?, version: Int)] = [:]
        /// A page that saw an older version gets all rows.
        var wholeVersion: Int
    }

    /// - Parameter title: The JSON that a page gets first.
    init(title: String) { state = Mutex(State(title: title)) }

    /// Shows a suite with what changed of it; a row without a text is gone.
    func show(_ suite: String, info: String, rows: [String: String?]) {
        change { state, version in
            var shown = state.suites[suite] ?? Suite(wholeVersion: version)
            // It was gone, and pages have forgotten its rows.
            if shown.info == nil { shown = Suite(wholeVersion: version) }
            guard shown.info != info || !rows.isEmpty else { return false }
            if shown.info != info { (shown.info, shown.infoVersion) = (info, version) }
            for (name, text) in rows { shown.rows[name] = (text, version) }
            // Names that a program makes up and removes again must not add up.
            let gone = shown.rows.count { $1.text == nil }
            if gone > 1000, gone > shown.rows.count / 2 {
                shown.rows = shown.rows.filter { $1.text != nil }
                shown.wholeVersion = version
            }
            state.suites[suite] = shown
            return true
        }
    }

    /// Removes a suite.
    func remove(_ suite: String) {
        change { state, version in
            guard state.suites[suite]?.info != nil else { return false }
            state.suites[suite] = Suite(info: nil, infoVersion: version, wholeVersion: version)
            return true
        }
    }

    /// Shows the edit that would be undone next, as JSON.
    func showUndo(_ text: String) {
        change { state, version in
            guard state.undo.text != text else { return false }
            state.undo = (text, version)
            return true
        }
    }

    /// Wakes all pages, so that each hears of the server and a closed one is found.
    func wakePages() {
        for page in state.withLock({ Array($0.pages.values) }) { page.yield() }
    }

    var hasPages: Bool { state.withLock { !$0.pages.isEmpty } }

    /// Begins to wake a page: an element whenever there may be something new; nil if there are too many pages.
    package func addPage(limit: Int = 256) -> AsyncStream<Void>? {
        let (wakes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> Int? in
            guard state.pages.count < limit else { return nil }
            state.nextPage += 1
            state.pages[state.nextPage] = continuation
            return state.nextPage
        }
        guard let id else { return nil }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.pages.removeValue(forKey: id) }
        }
        continuation.yield()
        return wakes
    }

    /// Returns what changed since `version`, which is 0 for a page that has nothing, as JSON; nil if nothing did.
    package func news(since version: Int) -> (text: String, version: Int)? {
        state.withLock { state in
            guard state.version > version else { return nil }
            var members: [String] = []
            if version == 0 { members.append("\"server\":\(state.title)") }
            if state.undo.version > version { members.append("\"undo\":\(state.undo.text)") }
            let suites = state.suites.compactMap { Self.news(of: $0, $1, since: version) }
            if !suites.isEmpty { members.append("\"suites\":[\(suites.joined(separator: ","))]") }
            return ("{\(members.joined(separator: ","))}", state.version)
        }
    }

    private static func news(of name: String, _ suite: Suite, since version: Int) -> String? {
        var members = ["\"name\":\(JSONText.string(name))"]
        guard let info = suite.info else {
            guard suite.infoVersion > version, version > 0 else { return nil }
            return "{\(members[0]),\"gone\":true}"
        }
        let isWhole = suite.wholeVersion > version
        let new = suite.rows.filter { isWhole || $1.version > version }
        let removed = isWhole ? [] : new.filter { $1.text == nil }.map { JSONText.string($0.key) }
        if isWhole { members.append("\"whole\":true") }
        if isWhole || suite.infoVersion > version { members.append("\"info\":\(info)") }
        let rows = new.values.compactMap(\.text)
        if !rows.isEmpty { members.append("\"rows\":[\(rows.joined(separator: ","))]") }
        if !removed.isEmpty { members.append("\"removed\":[\(removed.joined(separator: ","))]") }
        return members.count > 1 ? "{\(members.joined(separator: ","))}" : nil
    }

    private func change(_ body: (inout State, Int) -> Bool) {
        let hasChanged = state.withLock { state in
            guard body(&state, state.version + 1) else { return false }
            state.version += 1
            return true
        }
        if hasChanged { wakePages() }
    }
}
