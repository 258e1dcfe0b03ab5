package import DurableFile
internal import Synchronization

/// Keeps values in a file of JSON lines that several processes may use at once.
package final class FileBackend: PreferenceBackend {
    private let log: LogFile<FileContents>
    private let isImmediate: Atomic<Bool>
    /// Whether a source publishes what this backend tells; else telling it is publishing it.
    private let isAdopted = Atomic(false)

    /// Opens nothing yet, so a file that can't be used shows in `load`.
    package init(
        path: String,
        isReadOnly: Bool = false,
        durability: PreferenceDurability = .background,
        fileSystem: any FileSystem = SystemFileSystem(),
        lockTimeout: Duration = .seconds(5),
        watcher: Watcher? = .shared,
        worker: WorkerThread? = nil
    ) {
        log = LogFile(
            path: path,
            isReadOnly: isReadOnly,
            fileSystem: fileSystem,
            lockTimeout: lockTimeout,
            watcher: watcher,
            worker: worker
        )
        isImmediate = Atomic(durability == .immediate)
    }

    package var path: String { log.path }

    package func load(host: PreferenceBackendHost) throws(PreferencesError) -> [String: PropertyListValue] {
        let observer = LogObserver(
            changed: host.changed,
            damaged: { host.report(PreferencesError($0)) },
            failed: { host.report(PreferencesError($0)) }
        )
        do { try log.load(observer: observer) } catch {
            log.withContents { $0.awaitReading() }
            throw PreferencesError(error)
        }
        return log.withContents { $0.load() }
    }

    package func refresh() throws(PreferencesError) -> [String: PropertyListValue?] {
        do { try log.catchUp() } catch { throw PreferencesError(error) }
        let changes = log.withContents { $0.takeDifferences() }
        publish(changes)
        return changes
    }

    package func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        var isStored = false
        var refusal: PreferencesError?
        var written: [String: PropertyListValue?] = [:]
        var outside: [String: PropertyListValue?]?
        do {
            try log.append { contents in
                written = [:]
                isStored = contents.holds(condition)
                guard isStored else { return nil }
                written = contents.different(changes)
                if written.isEmpty { return nil }
                do throws(PreferencesError) { return try Self.line(written) } catch {
                    refusal = error
                    return nil
                }
            } commit: { contents in
                outside = contents.takeDifferences()
                contents.store(written, of: changes)
            }
        } catch { throw PreferencesError(error) }
        if let refusal { throw refusal }
        let commit = PreferenceBackendCommit(
            outside: outside ?? log.withContents { $0.takeDifferences() },
            isStored: isStored
        )
        publish(commit.outside)
        if isStored { publish(changes) }
        if written.count < changes.count { log.announceNews() }
        return commit
    }

    /// Lets a source publish what this backend tells, in values that are what was published until now; call with the turn.
    func adopt(_ values: StoredValues) {
        log.withContents { $0.adopt(values) }
        isAdopted.store(true, ordering: .relaxed)
    }

    private func publish(_ changes: [String: PropertyListValue?]) {
        if !isAdopted.load(ordering: .relaxed) { log.withContents { $0.published.set(changes) } }
    }

    private static func line(_ changes: [String: PropertyListValue?]) throws(PreferencesError) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(128)
        try JSONLine.write(changes, to: &line)
        return line
    }

    package func settle() throws(PreferencesError) {
        if isImmediate.load(ordering: .relaxed) { try sync() }
    }

    /// Makes later sets at least as durable as this.
    func promise(_ durability: PreferenceDurability) {
        if durability == .immediate { isImmediate.store(true, ordering: .relaxed) }
    }

    package func sync() throws(PreferencesError) {
        do { try log.sync() } catch { throw PreferencesError(error) }
    }

    package func flush() async throws(PreferencesError) {
        do { try await log.flush() } catch { throw PreferencesError(error) }
    }

    /// Writes the file anew with one name a line, whether or not it is worth it; blocks.
    package func compact() throws(PreferencesError) {
        do { try log.compact() } catch { throw PreferencesError(error) }
    }
}
