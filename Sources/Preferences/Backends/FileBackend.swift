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
        worker: WorkerQueue? = nil
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
        try open(host: host).dictionary
    }

    /// As `load`, without parsing the values.
    func open(host: PreferenceBackendHost) throws(PreferencesError) -> StoredValues {
        let observer = LogObserver(
            changed: host.changed,
            damaged: { host.report(PreferencesError($0)) },
            moved: { [path] in host.report(PreferencesError(damageOf: path, movedTo: $0)) },
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
        let changes = log.withContents { $0.takeDifferences() } ?? [:]
        publish(changes)
        return changes
    }

    package func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferencesError) -> PreferenceBackendCommit {
        let commit = try commit(.several(changes), if: condition)
        return PreferenceBackendCommit(outside: commit.outside ?? [:], isStored: commit.isStored)
    }

    /// What came of `commit`.
    struct Commit {
        /// What others had changed before, if anything.
        var outside: [String: PropertyListValue?]?
        var isStored = false
        /// What the changes change of what is published, where that is known already.
        var changed: ShortList<ValueChange>?

        init() {}

        init(_ told: PreferenceBackendCommit?) {
            outside = told?.outside
            isStored = told?.isStored ?? false
        }
    }

    /// As `apply`.
    func commit(_ changes: ValueChanges, if condition: PreferenceCondition?) throws(PreferencesError) -> Commit {
        var commit = Commit()
        var refusal: PreferencesError?
        var difference = FileContents.Difference.none
        do {
            try log.append { contents in
                difference = .none
                commit.isStored = condition.map(contents.holds) ?? true
                if commit.isStored { difference = contents.difference(of: changes) }
                do throws(PreferencesError) {
                    if let line = try contents.line(of: difference, changes) { return line }
                } catch {
                    refusal = error
                }
                // Before the lock is released: what comes then is news.
                commit.outside = contents.takeDifferences()
                return nil
            } commit: { contents in
                commit.outside = contents.takeDifferences()
                contents.store(difference, of: changes)
            }
        } catch { throw PreferencesError(error) }
        if let refusal { throw refusal }
        if commit.outside == nil, case .published(let changed) = difference { commit.changed = changed }
        if !isAdopted.load(ordering: .relaxed) {
            publish(commit.outside ?? [:])
            if commit.isStored { publish(changes.dictionary) }
        }
        switch difference {
        case .published, .all: break
        case .none, .some: log.notifyInBackground()
        }
        return commit
    }

    /// Moves the values that `open` returned to a source's own, which publishes them from now on; call with the turn.
    func adopt(_ values: StoredValues, taking contents: StoredValues) {
        // In one step, as the watcher compares with them.
        log.withContents {
            values.take(contents)
            $0.adopt(values)
        }
        isAdopted.store(true, ordering: .relaxed)
    }

    /// Lets a source publish what this backend tells, in values that are what was published until now; call with the turn.
    func adopt(_ values: StoredValues) {
        log.withContents { $0.adopt(values) }
        isAdopted.store(true, ordering: .relaxed)
    }

    private func publish(_ changes: [String: PropertyListValue?]) {
        if !isAdopted.load(ordering: .relaxed) { log.withContents { $0.published.set(changes) } }
    }

    package func didApply() throws(PreferencesError) {
        if isImmediate.load(ordering: .relaxed) { try sync() }
    }

    /// Makes later sets at least as durable as this.
    func promise(_ durability: PreferenceDurability) {
        if durability == .immediate { isImmediate.store(true, ordering: .relaxed) }
    }

    package func sync() throws(PreferencesError) {
        do { try log.sync() } catch { throw PreferencesError(error) }
    }

    /// Writes the file anew with one name a line, whether or not it is worth it; blocks.
    package func compact() throws(PreferencesError) {
        do { try log.compact() } catch { throw PreferencesError(error) }
    }
}

/// When a set value survives a loss of power; the death of the process it survives as soon as the set returns.
public enum PreferenceDurability: Hashable, Sendable {
    /// Within about 100 milliseconds; `flush()` waits for it.
    case background
    /// Before the set returns, which then takes as long as the disk needs; one that fails throws
    /// `PreferencesError.Code.notDurable` while the value stays set.
    case immediate
}

extension PreferencesError {
    /// What an error of the file means to who reads or sets a preference.
    init(_ error: LogError) {
        switch error {
        case .failed(let cause):
            self.init(.unavailable, "the preferences file can't be used; nothing was changed", cause: cause)
        case .readOnly(let cause):
            self.init(
                .readOnly,
                "the preferences file can't be written; nothing was changed. Check who owns the file and its folder",
                cause: cause
            )
        case .busy(let path, let waited):
            self.init(
                .busy,
                "another process has held the lock of \(path) for \(waited.components.seconds) s; nothing was changed. "
                    + "Try again, or end that process if it is stopped"
            )
        case .notAFile(let path, let kind):
            self.init(.unavailable, "\(path) is a \(kind.rawValue) and not a file; move it away")
        case .unstableIdentity(let path):
            self.init(
                .unavailable,
                "\(path) is another file each time it is looked at; nothing was changed. Its file system may be broken: keep the "
                    + "file on another one"
            )
        case .foreignOwner(let path, let owner):
            self.init(
                .notPermitted,
                "\(path) belongs to the user \(owner), who could choose by it what is read and written here; nothing was changed. "
                    + "Run the program as that user, or take the file over with chown"
            )
        case .refused(let path, let line, let reason):
            self.init(
                .unknownFormat,
                "\(path) can't be used by this version of the program: line \(line): \(reason); nothing was changed"
            )
        case .outcomeUnknown(let path, let cause):
            self.init(
                .outcomeUnknown,
                "writing \(path) failed in a way that leaves open whether the change is stored; read it again",
                cause: cause
            )
        case .notDurable(let path, let cause):
            self.init(
                .notDurable,
                "what was set in \(path) can be read but may not survive a loss of power; check the disk and set it again",
                cause: cause
            )
        }
    }

    /// The damaged lines of a file that was compacted.
    init(damageOf path: String, movedTo copy: String) {
        self.init(
            .damaged,
            "the lines of \(path) that can't be read were moved to \(copy) when the file was compacted; "
                + "correct them there and append them to the file, or leave them"
        )
    }

    /// A line that was skipped.
    init(_ damage: LogDamage) {
        let cure = damage.lineCount == 1 ? "correct it by hand or leave it" : "`prefs check --repair` rewrites it"
        self.init(
            .damaged,
            "line \(damage.line) of \(damage.path) can't be read and is skipped: \(damage.reason). It is kept; \(cure)"
        )
        damagedLine = (damage.path, damage.line)
    }
}
