import Dispatch
import Preferences
import PreferencesSchema
import Synchronization

/// A suite, or a file, that the pages show and edit.
///
/// All blocking work runs on the suite's queue: a suite that waits for a server doesn't delay other suites.
final class InspectedSuite: @unchecked Sendable {  // `place`, `stores`, `shown` and `marks` are used only on `queue`
    let name: String
    private let board: Board
    private let queue: DispatchQueue
    private let place: any Place
    private var stores: PlaceStores?
    /// The reason why the stores can't be opened.
    private var problem: String?
    private var shown = Shown()
    /// The state of the files when the suite was last read.
    private var marks: [FileMark?] = []
    /// Errors that a store on a server reported, which reading its values again wouldn't repeat.
    private let issues = Mutex<[PreferenceError]>([])
    private let isRefreshing = Mutex(false)
    private let followers = Mutex<[Task<Void, Never>]>([])
    private let hasEnded = Mutex(false)

    /// The state that the board shows.
    private struct Shown {
        var layers: [PlaceLayer] = []
        var formerNames = FormerNames(nil)
        var schema: FileMark?
        var names: Set<String> = []
        var connectionProblem: String?
        /// Whether the next `look()` reads the suite again, as neither a store nor a file's mark tells that a problem has gone.
        var hasPassingProblem = false
    }

    init(_ name: String, _ place: any Place, on board: Board) {
        self.name = name
        self.place = place
        self.board = board
        queue = DispatchQueue(label: "prefs.serve.suite")
    }

    /// Stops following the suite and removes it from the board; a refresh that has begun doesn't show it again.
    func end() {
        for follower in followers.withLock({ $0 }) { follower.cancel() }
        hasEnded.withLock { hasEnded in
            hasEnded = true
            board.remove(name)
        }
    }

    /// Reads and shows the suite soon; several calls in a row cause one refresh.
    func refreshSoon() {
        let isFirst = isRefreshing.withLock { isRefreshing in
            defer { isRefreshing = true }
            return !isRefreshing
        }
        guard isFirst else { return }
        queue.async {
            self.isRefreshing.withLock { $0 = false }
            self.refresh()
        }
    }

    /// Refreshes the suite if a file changed without a store's notification: a hidden layer, a schema, a damaged line. Or if a problem may
    /// have gone.
    func look() {
        queue.async {
            let isAsShown =
                self.stores != nil && !self.shown.hasPassingProblem
                && self.place.connectionProblem == self.shown.connectionProblem
                && self.marks(of: self.shown.layers) == self.marks
            if !isAsShown { self.refresh() }
        }
    }

    // MARK: Reading

    private func refresh() {
        guard !hasEnded.withLock({ $0 }) else { return }
        openStores()
        // Before the files are read, so that the next `look()` sees a change in between.
        marks = marks(of: shown.layers)
        let found = Issues()
        var failure = problem
        var layers = shown.layers
        do { layers = try place.layers { found.add($0) } } catch { failure = Failure(error).message }
        shown.hasPassingProblem = failure != nil || !found.all.isEmpty && layers.allSatisfy { $0.kind != .file }
        var damage = found.all.map { "\($0)" }
        damage += issues.withLock { issues in
            // A value that was set again is no longer damaged.
            issues.removeAll { issue in issue.name.map { name in layers.contains { $0.contents[name] != nil } } ?? false
            }
            return issues.map { "\($0)" }
        }
        // Before the schema is read, so that the next `look()` sees a change in between.
        let schemaMark = place.markingSchemaPaths.lazy.compactMap { FileMark(path: $0) }.first
        var schema: Schema?
        var redaction = Redaction.everything
        do {
            let marking = try place.markingSchema()
            redaction = Redaction(marking)
            // A file given by its path isn't checked against a schema.
            if !place.schemaPaths.isEmpty { schema = marking }
        } catch { damage.append("\(Failure(error).message). Until then no value is shown, as each might be a secret") }
        shown.formerNames = FormerNames(schema)
        layers = layers.map { PlaceLayer($0, shown.formerNames) }
        let rows = changedRows(layers, schema, redaction, isNewSchema: schemaMark != shown.schema)
        shown.layers = layers
        shown.schema = schemaMark
        for (name, text) in rows { if text == nil { shown.names.remove(name) } else { shown.names.insert(name) } }
        shown.connectionProblem = place.connectionProblem
        let info = info(layers, damage, failure ?? shown.connectionProblem)
        // Under the lock, so that the suite isn't removed in between; the board calls nothing that takes this lock.
        hasEnded.withLock { hasEnded in
            if !hasEnded { board.show(name, info: info, rows: rows) }
        }
    }

    /// Returns the rows that differ from those on the board; rows with unchanged values aren't created again.
    private func changedRows(
        _ layers: [PlaceLayer],
        _ schema: Schema?,
        _ redaction: Redaction,
        isNewSchema: Bool
    ) -> [String: String?] {
        var names = shown.names
        for layer in layers { names.formUnion(layer.contents.keys) }
        if let schema { names.formUnion(schema.properties.keys) }
        let isComparable = !isNewSchema && layers.count == shown.layers.count
        var rows: [String: String?] = [:]
        for name in names {
            let values = layers.map { $0.contents[name] }
            let storedNames = layers.map { $0.storedNames[name] }
            let isShown =
                isComparable && shown.names.contains(name) && values == shown.layers.map { $0.contents[name] }
                && storedNames == shown.layers.map { $0.storedNames[name] }
            if isShown { continue }
            let property = schema?.properties[name]
            guard property != nil || values.contains(where: { $0 != nil }) else {
                rows[name] = .some(nil)
                continue
            }
            rows[name] = text(name, layers, schema, redaction)
        }
        return rows
    }

    private func text(
        _ name: String,
        _ layers: [PlaceLayer],
        _ schema: Schema?,
        _ redaction: Redaction
    ) -> String {
        var problem: String?
        do {
            let layer = layers.deciding(name)
            if let schema, let value = layer?.contents[name] {
                problem = try schema.refusal(of: value, for: name, isStored: true)?.text(by: schema.path)
            }
            return try PreferenceRow(
                name: name,
                values: layers.map { $0.contents[name] },
                sources: layers.map(\.source),
                storedName: layer?.storedNames[name],
                property: schema?.properties[name],
                hidden: redaction.reason(name),
                problem: problem
            ).json()
        } catch {
            return JSONText.object([
                "name": .string(name), "source": .string("default"), "layers": .array([]),
                "problem": .string(Failure(error).message),
            ])
        }
    }

    private func info(_ layers: [PlaceLayer], _ damage: [String], _ failure: String?) -> String {
        var members: [String: PropertyListValue] = ["title": .string(place.title)]
        members["damage"] = .array(damage.map { .string($0) })
        members["failure"] = failure.map { .string($0) }
        members["layers"] = .array(
            layers.map { .dictionary(["source": .string($0.source.rawValue), "path": .string($0.location)]) }
        )
        members["schema"] = shownSchemaPath.map { .string($0) }
        if case .unwritable(let reason) = place.writability { members["unwritable"] = .string(reason) }
        return JSONText.object(members)
    }

    private var shownSchemaPath: String? { place.schemaPaths.first { access($0, F_OK) == 0 } }

    // MARK: Following

    /// Opens the stores, whose changes are shown at once; if that fails, the next `look()` tries again.
    private func openStores() {
        guard stores == nil else { return }
        do {
            let stores = try place.open()
            problem = nil
            self.stores = stores
            follow(stores.store)
            // For changes of the user's file that a managed value hides.
            if stores.own !== stores.store { follow(stores.own) }
        } catch {
            problem = Failure(error).message
        }
    }

    private func follow(_ store: PreferenceStore) {
        let isOnServer = place.isShared
        store.issueHandler = { [weak self] error in
            // For a file, reading it again repeats the error.
            if isOnServer, error.code == .unreadable || error.code == .damaged {
                self?.issues.withLock { $0.append(error) }
            }
            self?.refreshSoon()
        }
        let changes = store.changes.makeAsyncIterator()
        let follower = Task { [weak self] in
            var changes = changes
            while await changes.next() != nil, !Task.isCancelled { self?.refreshSoon() }
        }
        followers.withLock { $0.append(follower) }
    }

    private func marks(of layers: [PlaceLayer]) -> [FileMark?] {
        let paths = layers.filter { $0.kind == .file }.map(\.location)
        return (paths + place.markingSchemaPaths).map { FileMark(path: $0) }
    }
}

// MARK: - Editing

/// A change that a page made.
package struct PageEdit {
    package let suite: String
    package let name: String
    /// The user's values under the name and its former names before and after the edit; `nil` if none was set.
    let before: [String: PropertyListValue?]
    let after: [String: PropertyListValue?]
}

extension InspectedSuite {
    /// Sets or removes the user's value, and shows the change on the board.
    ///
    /// - Parameters:
    ///   - text: The value as in the preferences file; `nil` removes the value.
    ///   - record: Called with the edit before the suite's next edit; not called if nothing changed.
    /// - Throws: A `Failure` that says why nothing was changed.
    func edit(_ name: String, to text: String?, record: @escaping @Sendable (PageEdit) -> Void) async throws {
        let value = try text.map { try Self.value($0) }
        try await onQueue { place, stores in
            // A value can be removed even if the schema can't be read.
            let schema = try value == nil ? place.readableSchema() : place.markingSchema()
            if let value, let schema {
                if let reason = Redaction(schema).reason(name) { throw Failure(.usage, reason) }
                // A file given by its path isn't checked against a schema.
                if !place.schemaPaths.isEmpty, let refusal = try schema.refusal(of: value, for: name) {
                    throw Failure(.usage, try refusal.text(by: schema.path))
                }
            }
            let after = FormerNames(place.schemaPaths.isEmpty ? nil : schema).storing([name: value])
            var before: [String: PropertyListValue?] = [:]
            try stores.store.transaction { transaction in
                before = Self.own(after.keys, in: stores, &transaction)
                for (name, value) in after { transaction[name] = value }
            }
            guard before != after else { return }
            record(PageEdit(suite: self.name, name: name, before: before, after: after))
        }
    }

    /// Restores the user's value from before an edit; throws if the value was changed since.
    func undo(_ edit: PageEdit) async throws {
        try await onQueue { place, stores in
            try stores.store.transaction { transaction in
                guard Self.own(edit.after.keys, in: stores, &transaction) == edit.after else {
                    throw Failure(
                        .absent,
                        "\"\(edit.name)\" was changed after this edit and is kept; the next undo undoes the edit before"
                    )
                }
                for (name, value) in edit.before { transaction[name] = value }
            }
        }
    }

    /// Returns the user's values of names, `nil` for those that aren't set.
    private static func own(
        _ names: some Sequence<String>,
        in stores: PlaceStores,
        _ transaction: inout PreferenceTransaction
    ) -> [String: PropertyListValue?] {
        let own = stores.own.contents
        return Dictionary(
            uniqueKeysWithValues: names.map { name in
                // Read through the transaction too, so that it is repeated if another process changes the value.
                _ = transaction[name]
                return (name, own[name])
            }
        )
    }

    private func onQueue<Result>(
        _ body: @escaping (any Place, PlaceStores) throws -> sending Result
    ) async throws -> sending Result {
        do {
            return try await queue.run {
                self.openStores()
                guard let stores = self.stores else {
                    throw Failure(.failed, self.problem ?? "\(self.place.title) can't be opened")
                }
                let result = try body(self.place, stores)
                self.refresh()
                return result
            }
        } catch { throw Failure(error) }
    }

    private static func value(_ text: String) throws -> PropertyListValue {
        do throws(PreferenceError) { return try PropertyListValue(json: text) } catch {
            throw Failure(.usage, "this isn't a value: \(error.message)")
        }
    }

    /// Returns the line of each layer's file that sets a name, lowest precedence first; 0 if no line sets it or the file can't be read.
    func lines(of name: String) async throws -> [Int] {
        try await onQueue { place, _ in
            try place.layers { _ in }.map { PlaceLayer($0, self.shown.formerNames) }.map { layer in
                // The value is shown without a line; the board shows why the file can't be read.
                do { return try layer.origins()[name]?.line ?? 0 } catch { return 0 }
            }
        }
    }
}

#if !Etcd
extension Place {
    /// The reason why no changes arrive; `nil` if they do.
    var connectionProblem: String? { nil }
}
#else
extension Place {
    /// The reason why no changes arrive; `nil` if they do.
    var connectionProblem: String? { (self as? EtcdPlace)?.lostConnection }
}
#endif
