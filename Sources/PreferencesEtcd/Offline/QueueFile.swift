internal import DurableFile
internal import Preferences

/// The queued writes in a file in the file store's format, by number, so that they outlive the program.
final class QueueFile: Sendable {
    /// The largest number that a write may have.
    private static let largestNumber = Int.max / 2
    let path: String
    private let file: OfflineFile
    /// The suite whose writes are sent, with its prefix.
    private let suite: String
    /// A file that is locked while the store exists.
    private let lock: OpenFile

    /// Creates the queue's file of a suite and locks it.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - suite: The suite, with its prefix.
    /// - Throws: `misuse` if another store has locked it, `unavailable` if its folder or lock can't be created.
    init(path: String, suite: String) throws(PreferenceError) {
        self.path = path
        self.suite = suite
        file = try OfflineFile(path: path)
        let lock: OpenFile?
        do {
            lock = try OfflineFile.lock(path)
        } catch {
            throw PreferenceError(
                .unavailable,
                "the file for queued writes can't be opened; check who owns its folder: \(path)",
                cause: error
            )
        }
        guard let lock else {
            throw PreferenceError(
                .misuse,
                "another store or process uses the queue of writes in \(path); use one store, or another cacheFile for this one"
            )
        }
        self.lock = lock
    }

    /// Returns the suite's writes and the highest number in use; a write that can't be read, or of another suite, is reported and kept.
    func load(
        _ report: (PreferenceError) -> Void
    ) throws(PreferenceError) -> (step: WriteQueue.Step, lastNumber: Int) {
        defer { for problem in file.drainProblems() { report(problem) } }
        var step: WriteQueue.Step = [:]
        var lastNumber = -1
        var others: Set<String> = []
        for (name, value) in try file.load() {
            let number = Int(name).flatMap { 0...Self.largestNumber ~= $0 ? $0 : nil }
            lastNumber = max(lastNumber, number ?? -1)
            if let suite = Self.suite(in: value), suite != self.suite {
                others.insert(suite)
            } else if let number, let write = WriteQueue.Write(stored: value) {
                step[number] = write
            } else {
                report(
                    PreferenceError(
                        .damaged,
                        "the queued write \(name) in \(path) can't be read; it is kept and not sent. Correct or remove its line"
                    )
                )
            }
        }
        for suite in others.sorted() {
            report(
                PreferenceError(
                    .misuse,
                    "\(path) has queued writes of the suite \(suite); they are kept, and sent by a store of that suite. Give each suite "
                        + "another cacheFile"
                )
            )
        }
        return (step, lastNumber)
    }

    /// Returns the suite of a stored write; `nil` for one of an earlier version, or that can't be read.
    private static func suite(in stored: PropertyListValue) -> String? {
        guard case .dictionary(let parts) = stored, case .string(let suite) = parts["suite"] else { return nil }
        return suite
    }

    /// Writes a step; it then outlives the process.
    func write(_ step: WriteQueue.Step) throws(PreferenceError) {
        var changes: [String: PropertyListValue?] = [:]
        for (number, write) in step { changes.updateValue(try write?.stored(of: suite), forKey: String(number)) }
        try file.write(changes)
    }
}

extension WriteQueue.Write {
    // Values are stored as text, since inside a dictionary they could exceed the file's limit for nesting.
    fileprivate func stored(of suite: String) throws(PreferenceError) -> PropertyListValue {
        func stored(_ values: [String: PropertyListValue?]) throws(PreferenceError) -> PropertyListValue {
            var texts: [String: PropertyListValue] = [:]
            for (name, value) in values {
                if let value { texts[name] = .string(try value.json()) } else { texts[name] = false }
            }
            return .dictionary(texts)
        }
        return .dictionary([
            "suite": .string(suite), "changes": try stored(changes), "values": try stored(condition.values),
            "isComplete": .boolean(condition.isComplete), "prefix": .string(condition.prefix),
            "mayBeStored": .boolean(mayBeStored || inDoubt != nil),
        ])
    }

    fileprivate init?(stored: PropertyListValue) {
        func values(_ stored: PropertyListValue?) -> [String: PropertyListValue?]? {
            guard case .dictionary(let texts) = stored else { return nil }
            var values: [String: PropertyListValue?] = [:]
            for (name, text) in texts {
                guard text != false else {
                    values.updateValue(nil, forKey: name)
                    continue
                }
                guard case .string(let text) = text else { return nil }
                do throws(PreferenceError) { values[name] = try PropertyListValue(json: text) } catch { return nil }
            }
            return values
        }
        guard case .dictionary(let parts) = stored, let changes = values(parts["changes"]),
            let expected = values(parts["values"]), case .boolean(let isComplete) = parts["isComplete"],
            case .string(let prefix) = parts["prefix"], case .boolean(let mayBeStored) = parts["mayBeStored"]
        else { return nil }
        self.changes = changes
        condition = PreferenceCondition(values: expected, isComplete: isComplete, prefix: prefix)
        self.mayBeStored = mayBeStored
    }
}
