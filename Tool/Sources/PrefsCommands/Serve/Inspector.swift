@_spi(Tool) import Preferences
import Synchronization

/// The suites that the pages show, the edits that they can undo, and what was on the board last.
///
/// Every function may be called on any thread.
package final class Inspector: Sendable {
    package let board: Board
    /// The suites among which new ones are looked for; nil if one place is shown.
    private let suites: (any Suites)?
    private let shown = Mutex<[String: InspectedSuite]>([:])
    /// The suites of which the board shows only why they can't be read; they are tried again.
    private let failed = Mutex<Set<String>>([])
    private let edits = Mutex<[PageEdit]>([])

    /// Begins to show all suites, also those to come.
    init(all suites: any Suites, isReadOnly: Bool) throws {
        board = Board(title: Self.title("all suites", isReadOnly))
        self.suites = suites
        show(try suites.names())
    }

    /// Begins to show one suite or file, which need not exist yet.
    init(_ name: String, _ place: any Place, isReadOnly: Bool) {
        board = Board(title: Self.title(place.title, isReadOnly))
        suites = nil
        add(InspectedSuite(name, place, on: board))
    }

    private static func title(_ place: String, _ isReadOnly: Bool) -> String {
        JSONText.object(["title": .string(place), "isReadOnly": .boolean(isReadOnly)])
    }

    /// Looks each second for suites and files that changed unseen, while a page is open, and lets pages hear of the server.
    package func run() async throws {
        var count = 0
        while true {
            try await Task.sleep(for: .seconds(1))
            count += 1
            if count % 5 == 0 { board.wakePages() }
            if board.hasPages { look() }
        }
    }

    /// Looks once for what no store tells of.
    func look() {
        if let suites {
            do { show(try suites.names()) } catch {
                // Each suite shows by itself what keeps it from being read; the list stays as it was.
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

    // MARK: What pages ask for

    /// Sets a value by its text as in the preferences file, or removes it.
    package func edit(_ suite: String, _ name: String, to text: String?) async throws {
        guard !name.isEmpty else { throw Failure(.usage, "the name of the preference is empty") }
        try await self.suite(suite).edit(name, to: text) { edit in
            self.edits.withLock { edits in
                edits.append(edit)
                if edits.count > 1000 { edits.removeFirst() }
            }
        }
        showUndo()
    }

    /// Undoes the newest edit of a page; returns its name.
    package func undo() async throws -> PageEdit {
        guard let edit = edits.withLock({ $0.popLast() }) else { throw Failure(.absent, "there is no edit to undo") }
        defer { showUndo() }
        do {
            try await suite(edit.suite).undo(edit)
        } catch {
            // One that can never be undone makes room for the edit before it.
            if Failure(error).status != .absent { edits.withLock { $0.append(edit) } }
            throw error
        }
        return edit
    }

    /// The lines on which the layers' files set a name.
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
