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

    /// The line that sets a value, or nil where it is set.
    func stage(_ name: String, _ value: String) -> [UInt8]? {
        if values[name] == value { return nil }
        staged = (name, value)
        return Array("\(name)=\(value).\n".utf8)
    }

    func commit() {
        if let staged { values[staged.name] = staged.value }
        staged = nil
    }

    /// The values when they were asked for last.
    var seen: [String: String] = [:]
    var hasNews: Bool { values != seen }

    func lines() -> [UInt8] {
        var values = values
        for (name, value) in before { values[name] = value }
        return values.sorted { $0.key < $1.key }.flatMap { Array("\($0.key)=\($0.value).\n".utf8) }
    }
}

extension LogFile<TextContents> {
    var values: [String: String] { withContents { $0.values } }

    func set(_ name: String, _ value: String) throws(LogError) {
        try append({ $0.stage(name, value) }, commit: { $0.commit() })
    }
}

extension LogFile<TextContents> {
    /// The values, which count as asked for.
    func see() -> [String: String] {
        withContents { contents in
            contents.seen = contents.values
            return contents.values
        }
    }
}

/// What a log told its observer.
final class Told: Sendable {
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

    /// Returns when `condition` holds, which is looked at whenever the observer was called.
    func wait(until condition: () throws -> Bool) async rethrows {
        if try condition() { return }
        for await _ in calls where try condition() { return }
    }
}
