import DurableFile

/// Lines of the form `name=value.`, where a value without its full stop is incomplete and one with `!` is damaged.
final class TextContents: LogContents, @unchecked Sendable {  // used under its log's lock only
    var values: [String: String] = [:]
    private var before: [String: String?] = [:]
    private var staged: (name: String, value: String)?

    init() {}

    private func entry(_ line: UnsafeRawBufferPointer) -> (LineReading, name: String, value: String) {
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("refuse") { return (.refused("it says so"), "", "") }
        if text.contains("!") { return (.damaged("it is exclaimed"), "", "") }
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, text.hasSuffix(".") else { return (.incomplete, "", "") }
        return (.complete, String(parts[0]), String(parts[1].dropLast()))
    }

    func read(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        let (reading, name, value) = entry(line)
        if reading == .complete { values[name] = value }
        return reading
    }

    func readUnfinished(_ line: UnsafeRawBufferPointer, isFirst: Bool) -> LineReading {
        let (reading, name, value) = entry(line)
        if reading == .complete {
            before = [name: values[name]]
            values[name] = value
        }
        return reading
    }

    func dropUnfinished() {
        for (name, value) in before { values[name] = value }
        before = [:]
    }

    func replace(with contents: TextContents) {
        values = contents.values
        before = contents.before
    }

    func copy() -> TextContents {
        let copy = TextContents()
        copy.replace(with: self)
        return copy
    }

    /// Returns the line that sets a value, or nil if it is set already.
    func stage(_ name: String, _ value: String) -> [UInt8]? {
        if values[name] == value { return nil }
        staged = (name, value)
        return Array("\(name)=\(value).\n".utf8)
    }

    func commit() {
        if let staged { values[staged.name] = staged.value }
        staged = nil
    }

    /// The values when they were last fetched.
    var fetched: [String: String] = [:]
    var hasChanges: Bool { values != fetched }

    var lineCount: Int { values.count }

    func lines(inPlaceOf old: UnsafeRawBufferPointer, isRequested: Bool) -> [UInt8] {
        var values = values
        for (name, value) in before { values[name] = value }
        return values.sorted { $0.key < $1.key }.flatMap { Array("\($0.key)=\($0.value).\n".utf8) }
    }
}

extension LogFile<TextContents> {
    /// Returns a log that has read its file.
    static func open(
        _ path: String,
        isReadOnly: Bool = false,
        trustsOwners: Bool = false,
        fileSystem: any FileSystem = SystemFileSystem(),
        lockTimeout: Duration = .seconds(5),
        watcher: Watcher? = nil,
        worker: WorkerQueue? = nil,
        record: ObserverRecord = ObserverRecord()
    ) throws(LogError) -> LogFile {
        let log = LogFile(
            path: path,
            isReadOnly: isReadOnly,
            trustsOwners: trustsOwners,
            fileSystem: fileSystem,
            lockTimeout: lockTimeout,
            watcher: watcher,
            worker: worker
        )
        try log.load(observer: record.observer)
        return log
    }

    var values: [String: String] { withContents { $0.values } }

    func set(_ name: String, _ value: String) throws(LogError) {
        try append({ $0.stage(name, value) }, commit: { $0.commit() })
    }
}

extension LogFile<TextContents> {
    /// Returns the values and notes them as fetched.
    func fetch() -> [String: String] {
        withContents { contents in
            contents.fetched = contents.values
            return contents.values
        }
    }
}

/// The damage and errors that a log's observer was notified of.
final class ObserverRecord: Sendable {
    private struct State {
        var damage: [LogDamage] = []
        var errors: [LogError] = []
    }
    private let state = Lock(State())
    private let (calls, called) = AsyncStream.makeStream(of: Void.self)

    var damage: [LogDamage] { state.withLock { $0.damage } }
    var errors: [LogError] { state.withLock { $0.errors } }

    var observer: LogObserver {
        LogObserver(
            changed: { self.called.yield() },
            damaged: { damage in
                self.state.withLock { $0.damage.append(damage) }
                self.called.yield()
            },
            failed: { error in
                self.state.withLock { $0.errors.append(error) }
                self.called.yield()
            }
        )
    }

    /// Returns when `condition` holds; checks it at once and after each call of the observer.
    func wait(until condition: () throws -> Bool) async rethrows {
        if try condition() { return }
        for await _ in calls where try condition() { return }
    }
}
