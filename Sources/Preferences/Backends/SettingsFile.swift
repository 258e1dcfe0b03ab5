internal import DurableFile

/// A backend over a file of settings that people write as one JSON object with comments, and that is only read.
final class SettingsFileBackend: PreferenceBackend {
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
        /// Whether the program that wrote the file last has closed it since.
        var isClosed = false
        /// When a text without its end was first found.
        var unfinishedSince: Duration?
    }

    /// How long a text without its end is waited for, as a program might be saving it in place.
    private static let longestSave = Duration.seconds(1)

    init(path: String, fileSystem: any FileSystem = SystemFileSystem(), watcher: Watcher? = .shared) {
        self.path = path
        self.fileSystem = fileSystem
        self.watcher = watcher
        file = WholeFile(path: path, fileSystem: fileSystem)
    }

    var isWrittenByHand: Bool { true }

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
        let reading = Reading(text)
        if let error = reading.error { throw self.error(error, "it is read again once it is saved", in: text) }
        state.withLock { $0.take(reading, text) }
        report(reading.skipped, in: text)
        return state.withLock { $0.values }
    }

    func catchUp() throws(PreferenceError) {
        let text = try text()
        let isKnown = state.withLock { state in
            if state.text == text { state.unfinishedSince = nil }
            return state.text == text
        }
        if isKnown { return }
        let reading = Reading(text)
        if let error = reading.error {
            if reading.isUnfinished, isBeingSaved() { return }
            state.withLock { ($0.text, $0.unfinishedSince) = (text, nil) }
            report(self.error(error, "the values that were read before stay in force", in: text))
        } else {
            state.withLock { state in
                let old = state.values
                state.take(reading, text)
                state.host?.collect(state.values.changes(since: old))
            }
            report(reading.skipped, in: text)
        }
    }

    /// Whether a program might still be saving the file in place; if so, has the store read it again later.
    private func isBeingSaved() -> Bool {
        let now = fileSystem.now()
        let (isSaved, isFirst) = state.withLock { state in
            let isFirst = state.unfinishedSince == nil
            let since = state.unfinishedSince ?? now
            state.unfinishedSince = since
            return (state.watch == nil || state.isClosed || now >= since + Self.longestSave, isFirst)
        }
        if isSaved { return false }
        if isFirst { notifier.run(after: Self.longestSave) { [weak self] in self?.notifyHost() } }
        return true
    }

    private func report(_ skipped: [JSONLineError], in text: [UInt8]?) {
        for error in skipped { report(self.error(error, "the value is left out", in: text)) }
    }

    private func report(_ error: PreferenceError) { state.withLock { $0.host }?.report(error) }

    private func notifyHost() { state.withLock { $0.host }?.changed() }

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
            state.withLock { $0.isClosed = event == .closed }
            var isBlank = true
            do { isBlank = try fileSystem.status(at: path).size == 0 } catch {
                // The file isn't there, or can't be looked at now.
            }
            return WatchFinding(isBlank: isBlank, hasChanges: false)
        }
        notifier.run { [weak self] in self?.notifyHost() }
        return WatchFinding(isBlank: false, hasChanges: true)
    }
}

/// The values of a text of settings, or its error; a file that doesn't exist has no values.
private struct Reading {
    private(set) var values: [String: PropertyListValue] = [:]
    private(set) var lines: [String: Int] = [:]
    /// The errors of values that can't be used.
    private(set) var skipped: [JSONLineError] = []
    private(set) var error: JSONLineError?
    /// Whether the text ends before its object does.
    private(set) var isUnfinished = false

    init(_ text: [UInt8]?) {
        guard let text else { return }
        let object = ForeignJSON(text)
        do throws(JSONLineError) {
            let (changes, errors) = try object.readable(isStrict: false)
            (values, lines, skipped) = (changes.compactMapValues { $0 }, object.lines, errors)
        } catch { (self.error, isUnfinished) = (error, object.isUnfinished) }
    }
}

extension SettingsFileBackend.State {
    fileprivate mutating func take(_ reading: Reading, _ text: [UInt8]?) {
        (self.text, values, lines, unfinishedSince) = (text, reading.values, reading.lines, nil)
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
