internal import DurableFile

/// A backend over a file of settings that people write as one JSON object with comments, and that is only read.
final class SettingsFileBackend: PlacedBackend {
    private let path: String
    private let file: WholeFile
    private let fileSystem: any FileSystem
    private let watcher: Watcher?
    private let notifier = WorkerQueue()
    private let state = Lock(State())

    fileprivate struct State {
        var host: PreferenceBackendHost?
        var watch: Watch?
        /// The text that was last read, also one with an error.
        var text: [UInt8]?
        var values: [String: PropertyListValue] = [:]
        /// The lines of the values.
        var lines: [String: Int] = [:]
    }

    init(path: String, fileSystem: any FileSystem = SystemFileSystem(), watcher: Watcher? = .shared) {
        self.path = path
        self.fileSystem = fileSystem
        self.watcher = watcher
        file = WholeFile(path: path, fileSystem: fileSystem)
    }

    func path(of name: String?) -> String? { path }

    func line(of name: String) -> Int? { state.withLock { $0.lines[name] } }

    func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        // Watched before it is read, so that no change is missed in between.
        let watch = watcher?.watch(path) { [weak self] event in self?.handle(event) }
        let known = state.withLock { state in
            state.host = host
            return exchange(&state.watch, with: watch)
        }
        withExtendedLifetime(known) {}
        let text = try text()
        if let error = state.withLock({ $0.read(text) }) {
            throw self.error(error, "it is read again once it is saved", in: text)
        }
        return state.withLock { $0.values }
    }

    func catchUp() throws(PreferenceError) {
        let text = try text()
        let error = state.withLock { state -> JSONLineError? in
            if state.text == text { return nil }
            let old = state.values
            let error = state.read(text)
            if error == nil { state.host?.collect(state.values.changes(since: old)) }
            return error
        }
        guard let error else { return }
        let host = state.withLock { $0.host }
        host?.report(self.error(error, "the values that were read before stay in force", in: text))
    }

    func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit { throw PreferenceError(onlyRead: path) }

    private func text() throws(PreferenceError) -> [UInt8]? {
        do { return try file.bytes(trustingOwners: TrustedOwners.setting.fix().value) } catch {
            throw PreferenceError(error)
        }
    }

    private func error(_ error: JSONLineError, _ outcome: String, in text: [UInt8]?) -> PreferenceError {
        let place = ForeignJSON.place(of: error.offset, in: text ?? [])
        var issue = PreferenceError(
            .damaged,
            "line \(place.line), column \(place.column) of \(path) can't be read: \(error.reason). Correct it by hand; \(outcome)"
        )
        issue.damagedLine = (path, place.line)
        return issue
    }

    /// Has the store read the file once it is idle: a program that saves it in place might not have finished.
    private func handle(_ event: WatchEvent) -> WatchFinding? {
        guard case .idle = event else {
            var isBlank = true
            do { isBlank = try fileSystem.status(at: path).size == 0 } catch {
                // The file isn't there, or can't be looked at now.
            }
            return WatchFinding(isBlank: isBlank, hasChanges: false)
        }
        notifier.run { [weak self] in
            let host = self?.state.withLock { $0.host }
            host?.changed()
        }
        return WatchFinding(isBlank: false, hasChanges: true)
    }
}

extension SettingsFileBackend.State {
    /// Takes over the values of a text, or returns its error.
    fileprivate mutating func read(_ text: [UInt8]?) -> JSONLineError? {
        self.text = text
        guard let text else {
            (values, lines) = ([:], [:])
            return nil
        }
        let object = ForeignJSON(text)
        do throws(JSONLineError) {
            values = try object.changes(isStrict: false).compactMapValues { $0 }
            lines = object.lines
            return nil
        } catch { return error }
    }
}

extension [String: PropertyListValue] {
    /// Returns the changes from old values to these.
    func changes(since old: Self) -> [String: PropertyListValue?] {
        var changes: [String: PropertyListValue?] = filter { old[$0.key] != $0.value }.mapValues(Optional.some)
        for name in old.keys where self[name] == nil { changes.updateValue(nil, forKey: name) }
        return changes
    }
}
