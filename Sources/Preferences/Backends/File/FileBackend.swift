package import DurableFile
internal import Synchronization

/// Keeps values in a file of JSON lines that several processes may use at once.
package final class FileBackend: PreferenceBackend {
    private let log: LogFile<FileContents>
    private let isImmediate: Atomic<Bool>

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
        return log.withContents { $0.takeOutside() }
    }

    package func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        var isStored = false
        var isWritten = false
        var refusal: PreferencesError?
        do {
            try log.append { contents in
                isStored = condition.holds(for: contents.values)
                isWritten = false
                guard isStored, let changes = contents.stage(changes) else { return nil }
                do throws(PreferencesError) {
                    var line: [UInt8] = []
                    line.reserveCapacity(128)
                    try JSONLine.write(changes, to: &line)
                    isWritten = true
                    return line
                } catch {
                    refusal = error
                    return nil
                }
            }
        } catch { throw PreferencesError(error) }
        if let refusal { throw refusal }
        let (outside, hasNews) = log.withContents { [isWritten] contents in
            (isWritten ? contents.takeOutsideOfCommit() : contents.takeOutside(), contents.hasNews)
        }
        if hasNews { log.announceNews() }
        return PreferenceBackendCommit(outside: outside, isStored: isStored)
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
