import Synchronization

/// The texts that all pages show, with the version in which each last changed: a page that connects late or reads slowly gets only
/// the newest state.
///
/// All functions may be called on any thread.
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
        /// The title, the layers and the problems; `nil` after the suite was removed.
        var info: String?
        var infoVersion = 0
        /// The rows by name; a row without a text was removed.
        var rows: [String: (text: String?, version: Int)] = [:]
        /// A page with an older version than this gets all rows.
        var wholeVersion: Int
    }

    /// Creates a board whose pages first get `title`, which is JSON.
    init(title: String) { state = Mutex(State(title: title)) }

    /// Shows a suite with its changed rows; a row without a text is removed.
    func show(_ suite: String, info: String, rows: [String: String?]) {
        change { state, version in
            var shown = state.suites[suite] ?? Suite(wholeVersion: version)
            // It had been removed, and pages no longer have its rows.
            if shown.info == nil { shown = Suite(wholeVersion: version) }
            guard shown.info != info || !rows.isEmpty else { return false }
            if shown.info != info { (shown.info, shown.infoVersion) = (info, version) }
            for (name, text) in rows { shown.rows[name] = (text, version) }
            // Bounds the memory for removed rows if a program keeps creating and removing names.
            let removed = shown.rows.count { $1.text == nil }
            if removed > 1000, removed > shown.rows.count / 2 {
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

    /// Wakes all pages: each gets a message, which also detects closed connections.
    func wakePages() {
        for page in state.withLock({ Array($0.pages.values) }) { page.yield() }
    }

    var hasPages: Bool { state.withLock { !$0.pages.isEmpty } }

    /// Returns a stream with an element whenever the board may have changed, for one page; `nil` if there are too many pages.
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

    /// Returns the changes since `version`, which is 0 for a new page, as JSON; `nil` if nothing changed.
    package func changes(since version: Int) -> (text: String, version: Int)? {
        state.withLock { state in
            guard state.version > version else { return nil }
            var members: [String] = []
            if version == 0 { members.append("\"server\":\(state.title)") }
            if state.undo.version > version { members.append("\"undo\":\(state.undo.text)") }
            let suites = state.suites.compactMap { Self.changes(of: $0, $1, since: version) }
            if !suites.isEmpty { members.append("\"suites\":[\(suites.joined(separator: ","))]") }
            return ("{\(members.joined(separator: ","))}", state.version)
        }
    }

    private static func changes(of name: String, _ suite: Suite, since version: Int) -> String? {
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
