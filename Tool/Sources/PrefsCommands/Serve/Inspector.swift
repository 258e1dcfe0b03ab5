import Preferences
import Synchronization

/// The suites that the pages show and the edits that they can undo.
///
/// All functions may be called on any thread.
package final class Inspector: Sendable {
    package let board: Board
    /// All suites, among which new ones are looked for; `nil` if only one place is shown.
    private let suites: (any Suites)?
    private let shown = Mutex<[String: InspectedSuite]>([:])
    /// The suites that can't be opened; the board shows the reason, and they are tried again.
    private let failed = Mutex<Set<String>>([])
    private let edits = Mutex<[PageEdit]>([])

    /// Creates an inspector of all suites, including those that are created later.
    init(all suites: any Suites, isReadOnly: Bool) throws {
        board = Board(title: Self.title("all suites", isReadOnly))
        self.suites = suites
        show(try suites.names())
    }

    /// Creates an inspector of one suite or file, which need not exist yet.
    init(_ name: String, _ place: any Place, isReadOnly: Bool) {
        board = Board(title: Self.title(place.title, isReadOnly))
        suites = nil
        add(InspectedSuite(name, place, on: board))
    }

    private static func title(_ place: String, _ isReadOnly: Bool) -> String {
        JSONText.object(["title": .string(place), "isReadOnly": .boolean(isReadOnly)])
    }

    /// Calls `look()` each second while a page is open, and wakes all pages every 5 seconds, until the task is cancelled.
    package func run() async throws {
        var count = 0
        while true {
            try await Task.sleep(for: .seconds(1))
            count += 1
            if count % 5 == 0 { board.wakePages() }
            if board.hasPages { look() }
        }
    }

    /// Looks once for new and removed suites and for changes of files that no store reports.
    func look() {
        if let suites {
            do { show(try suites.names()) } catch {
                // Each suite shows its own failure; the list is kept.
            }
        }
        for suite in shown.withLock({ Array($0.values) }) { suite.look() }
    }

    private func show(_ names: [String]) {
        guard let suites else { return }
        let (known, gone) = shown.withLock { shown in
            let gone = Set(shown.keys).subtracting(names)
            let ended = gone.compactMap { shown.removeValue(forKey: $0) }
            return (Set(shown.keys), ended)
        }
        for suite in gone { suite.end() }
        let failedAndGone = failed.withLock { failed in
            defer { failed.formIntersection(names) }
            return failed.subtracting(names)
        }
        for suite in failedAndGone { board.remove(suite) }
        for name in names where !known.contains(name) {
            do {
                let place = try suites.place(of: name)
                add(InspectedSuite(name, place, on: board))
                _ = failed.withLock { $0.remove(name) }
            } catch {
                _ = failed.withLock { $0.insert(name) }
                board.show(name, info: Self.info(failure: error), rows: [:])
            }
        }
    }

    private func add(_ suite: InspectedSuite) {
        shown.withLock { $0[suite.name] = suite }
        suite.refreshSoon()
    }

    private static func info(failure: any Error) -> String {
        JSONText.object([
            "damage": .array([]), "layers": .array([]), "failure": .string(Failure(failure).message),
            "title": .string(""),
        ])
    }

    // MARK: Requests of pages

    /// Sets a value by its text as in the preferences file, or removes it.
    package func edit(_ suite: String, _ name: String, to text: String?) async throws {
        guard !name.isEmpty else { throw Failure(.usage, "the name of the preference is empty; write a name") }
        try await self.suite(suite).edit(name, to: text) { edit in
            self.edits.withLock { edits in
                edits.append(edit)
                if edits.count > 1000 { edits.removeFirst() }
            }
        }
        showUndo()
    }

    /// Undoes the newest edit of all pages, and returns it.
    package func undo() async throws -> PageEdit {
        guard let edit = edits.withLock({ $0.popLast() }) else { throw Failure(.absent, "there is no edit to undo") }
        defer { showUndo() }
        do {
            try await suite(edit.suite).undo(edit)
        } catch {
            // An edit that can never be undone is dropped, so that the edit before it can be undone.
            if Failure(error).status != .absent { edits.withLock { $0.append(edit) } }
            throw error
        }
        return edit
    }

    /// Returns the line of each layer's file that sets a name; 0 if no line sets it.
    package func lines(of name: String, in suite: String) async throws -> [Int] {
        try await self.suite(suite).lines(of: name)
    }

    private func suite(_ name: String) throws -> InspectedSuite {
        guard let suite = shown.withLock({ $0[name] }) else {
            throw Failure(.absent, "this page doesn't show a suite \"\(name)\"")
        }
        return suite
    }

    private func showUndo() {
        let last = edits.withLock { edits in
            edits.last.map { JSONText.object(["suite": .string($0.suite), "name": .string($0.name)]) }
        }
        board.showUndo(last ?? "null")
    }
}
