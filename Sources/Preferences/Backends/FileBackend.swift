package import DurableFile
internal import Synchronization

/// A backend over a file in the format of `PreferenceStore.file(at:)`, which several processes may use at the same time.
///
/// A program uses `PreferenceStore.file(at:)`, which shares one store among all that name the file. The backend is for a backend of
/// your own that keeps a copy of another storage, or that changes the values on their way to a file. Damaged lines are reported by
/// the host and kept; each `apply` adds one line to the file, so a kill at any moment leaves all of its changes or none. A call waits
/// for at most 5 s for the lock that another process holds, and then throws `busy`. The article *On-disk format* describes the file.
public final class FileBackend: PreferenceBackend {
    private let log: LogFile<FileContents>
    private let isReadOnly: Bool
    /// How long a call waits for the lock that another process holds.
    let lockTimeout: Duration
    /// The part of it that isn't reported: as long as many sets of other threads and processes take.
    let shortWait: Duration
    private let isImmediate: Atomic<Bool>
    private let host = Lock<PreferenceBackendHost?>(nil)
    /// Whether a source shares the values and publishes the changes; otherwise the host gets them.
    private let isAdopted = Atomic(false)

    /// Creates a backend and opens nothing yet: if the file can't be used, `load` throws.
    package init(
        path: String,
        isReadOnly: Bool = false,
        reportsUnfinished: Bool = false,
        durability: PreferenceDurability = .background,
        trustsOwner: Bool = false,
        fileSystem: any FileSystem = SystemFileSystem(),
        lockTimeout: Duration = .seconds(5),
        watcher: Watcher? = .shared,
        worker: WorkerQueue? = nil
    ) {
        self.isReadOnly = isReadOnly
        self.lockTimeout = lockTimeout
        shortWait = min(lockTimeout, .milliseconds(100))
        log = LogFile(
            path: path,
            isReadOnly: isReadOnly,
            reportsUnfinished: reportsUnfinished,
            trustsOwners: trustsOwner || TrustedOwners.setting.fix().value,
            fileSystem: fileSystem,
            lockTimeout: lockTimeout,
            watcher: watcher,
            worker: worker
        )
        isImmediate = Atomic(durability == .immediate)
    }

    package var path: String { log.path }

    /// Whether the file could be written now, as far as is known without trying.
    public var isWritable: Bool { log.isWritable }

    /// Returns the path of the file.
    public func path(of name: String?) -> String? { path }

    /// The path of the file.
    public var plainTextPlace: String? { path }

    /// Returns the line, and reads nothing of a large file.
    public func line(of name: String) -> Int? {
        log.bytes(atMost: 4 << 20).flatMap { JSONLine.numbers(in: $0, joinsLines: isReadOnly)[name] }
    }

    /// Opens and reads the file; a missing one has no values.
    ///
    /// The values in lines that can be read are returned, and lines that can't be are reported by the host and kept.
    ///
    /// - Throws: An error if the file can't be read or is no preferences file; `unknownFormat` if it has a newer format.
    public func load(host: PreferenceBackendHost) throws(PreferenceError) -> [String: PropertyListValue] {
        try open(host: host).dictionary
    }

    /// Loads the file as `load` does, without parsing the values.
    func open(host: PreferenceBackendHost) throws(PreferenceError) -> StoredValues {
        self.host.withLock { $0 = host }
        let observer = LogObserver(
            changed: { host.changed() },
            damaged: { host.report(PreferenceError($0)) },
            moved: { [path] in host.report(PreferenceError(damageOf: path, movedTo: $0)) },
            failed: { host.report(PreferenceError($0)) }
        )
        do { try log.load(observer: observer) } catch {
            log.withContents { $0.noteLoadFailure() }
            throw PreferenceError(error)
        }
        return log.withContents { $0.load() }
    }

    /// Watches the file again in a child of `fork`.
    func resume() { log.resume() }

    /// Reads what other processes have written since.
    public func catchUp() throws(PreferenceError) {
        do { try log.catchUp() } catch { throw PreferenceError(error) }
        passOn()
    }

    /// Appends one line with the changes that differ from the stored values, if the condition is true of these.
    ///
    /// - Throws: An error if nothing was written; `outcomeUnknown` if that isn't known; `busy` if another process has held the lock for 5 s.
    public func apply(
        _ changes: [String: PropertyListValue?],
        if condition: PreferenceCondition
    ) throws(PreferenceError) -> PreferenceBackendCommit {
        PreferenceBackendCommit(isStored: try commit(.several(changes), if: condition, within: lockTimeout))
    }

    /// Applies changes as `apply` does, and waits for at most a time; returns whether they are stored.
    func commit(
        _ changes: ValueChanges,
        if condition: PreferenceCondition?,
        within timeout: Duration
    ) throws(PreferenceError) -> Bool {
        var isStored = false
        var refusal: PreferenceError?
        defer { passOn() }
        do {
            try log.append(within: timeout) { contents in
                isStored = condition.map(contents.holds) ?? true
                guard isStored else { return nil }
                do throws(PreferenceError) {
                    if let line = try contents.line(of: changes) { return line }
                    noteUnchanged(changes, contents)
                } catch {
                    refusal = error
                }
                return nil
            } commit: { contents in
                contents.noteWritten(changes)
            }
        } catch { throw PreferenceError(error) }
        if let refusal { throw refusal }
        return isStored
    }

    /// Stores the changes that `make` returns, unless it returns nil.
    ///
    /// `make` is called with the file's lock, after the lines of other processes were read: none changes what it reads before its
    /// changes are stored. It must not use the file.
    func commit(within timeout: Duration, _ make: () -> ValueChanges?) throws(PreferenceError) {
        var changes: ValueChanges?
        var refusal: PreferenceError?
        do {
            try log.append(within: timeout) { contents in
                changes = make()
                guard let changes else { return nil }
                do throws(PreferenceError) { return try contents.line(of: changes) } catch {
                    refusal = error
                    return nil
                }
            } commit: { contents in
                if let changes { contents.noteWritten(changes) }
            }
        } catch { throw PreferenceError(error) }
        if let refusal { throw refusal }
    }

    /// Records that the file has all the changes already, before later lines are read; a source that shares the values sees that.
    private func noteUnchanged(_ changes: ValueChanges, _ contents: FileContents) {
        if !isAdopted.load(ordering: .relaxed) { contents.store(.all, of: changes) }
    }

    /// Passes the changes on to the host unless a source takes them.
    private func passOn() {
        guard !isAdopted.load(ordering: .relaxed) else { return }
        log.withContents(passOn)
    }

    private func passOn(_ contents: FileContents) {
        guard let host = host.withLock({ $0 }) else { return }
        contents.publish { if $0.isOwn { host.noteApplied() } else { host.collect($0.dictionary) } }
    }

    /// Moves the values that `open` returned into those of a source, which publishes changes from now on; call with the turn.
    func adopt(_ values: StoredValues, movingFrom contents: StoredValues) {
        // Under one lock, because the watcher compares the file with these values.
        log.withContents {
            passOn($0)
            values.moveValues(from: contents)
            $0.adopt(values)
            isAdopted.store(true, ordering: .relaxed)
        }
    }

    /// Lets a source publish the changes of this backend, in values equal to those published before; call with the turn.
    func adopt(_ values: StoredValues) {
        log.withContents {
            passOn($0)
            $0.adopt(values)
            isAdopted.store(true, ordering: .relaxed)
        }
    }

    /// Waits for the disk if the durability is immediate.
    public func didApply() throws(PreferenceError) {
        if isImmediate.load(ordering: .relaxed) { try sync() }
    }

    /// Whether each commit waits for the disk.
    var syncsEachCommit: Bool { isImmediate.load(ordering: .relaxed) }

    /// Raises the durability of later sets to at least the given one.
    func raiseDurability(to durability: PreferenceDurability) {
        if durability == .immediate { isImmediate.store(true, ordering: .relaxed) }
    }

    /// Uses the file regardless of its owner, from now on.
    func trustOwner() { log.trustOwners() }

    /// Whether the file is used regardless of its owner.
    package var trustsOwner: Bool { log.trustsOwners }

    /// Blocks until everything applied so far survives a loss of power.
    ///
    /// - Throws: `notDurable` if the disk fails.
    public func sync() throws(PreferenceError) {
        do { try log.sync() } catch { throw PreferenceError(error) }
    }

    /// Rewrites the file with one line for each name, even if little is gained; blocks.
    ///
    /// Lines that can't be read are moved to another file beside it, whose path the host is told soon, on another thread. Call it after
    /// `load`, on any thread.
    ///
    /// - Throws: `outcomeUnknown` if the new file is in place, and its name might not survive a loss of power; another error if the
    ///   file is as before.
    public func compact() throws(PreferenceError) {
        do { try log.compact() } catch { throw PreferenceError(error) }
    }
}

/// The time from which a write survives a loss of power. It survives the death of the process as soon as the write returns.
public enum PreferenceDurability: Hashable, Sendable {
    /// Within about 100 milliseconds; `flush()` waits for it.
    case background
    /// Before the write returns, which then waits for the disk. If that fails, the write throws
    /// `PreferenceError.Code.notDurable`, but the value remains set.
    case immediate
}

extension PreferenceError {
    /// Creates the error that a read or a set reports for an error of the file.
    package init(_ error: LogError) {
        switch error {
        case .failed(let cause):
            self.init(.unavailable, "the preferences file can't be used; nothing was changed", cause: cause)
        case .readOnly(let cause) where cause.code == .readOnlyFileSystem:
            self.init(
                .readOnly,
                "the file system of the preferences file is read-only; nothing was changed. Mount it for writing, or keep the file on "
                    + "another one",
                cause: cause
            )
        case .readOnly(let cause):
            self.init(
                .readOnly,
                "the preferences file can't be written; nothing was changed. Check the owner and the mode of the file and its folder",
                cause: cause
            )
        case .busy(let path, let waited):
            let time = waited < .seconds(1) ? "\(Int(waited / .milliseconds(1))) ms" : "\(waited.components.seconds) s"
            self.init(
                .busy,
                "another process has held the lock of \(path) for \(time); nothing was changed. "
                    + "Try again, or end that process if it is stopped"
            )
        case .notAFile(let path, let kind):
            self.init(.unavailable, "\(path) is a \(kind.rawValue), not a file; move it away")
        case .outOfReach(let path):
            self.init(
                .unavailable,
                "\(path) can't be reached any more, because the program has another root folder or the file system isn't mounted; the last "
                    + "values are still read, and nothing was changed. Mount it again, or copy the file into the new root"
            )
        case .unstableIdentity(let path):
            self.init(
                .unavailable,
                "\(path) was a different file each time it was opened; nothing was changed. Its file system may be faulty: keep the "
                    + "file on another one"
            )
        case .foreignOwner(let path, let owner):
            self.init(
                .notPermitted,
                "\(path) belongs to the user \(owner), who could use it to choose what this program reads and writes; nothing was changed. "
                    + "Run the program as that user, change the file's owner with chown, or open it with trustsOwner: true"
            )
        case .hidden(let path, let cause):
            self.init(
                .notPermitted,
                "\(path) is treated as missing, because a folder on the way to it can't be entered; if the file exists, let this user enter "
                    + "its folders",
                cause: cause
            )
        case .foreign(let path):
            self.init(
                .unknownFormat,
                "\(path) isn't a preferences file, because no line of it is an object of names and values; nothing was changed. Correct the "
                    + "path, or move the file away. To keep preferences in it all the same, append the line {} to it"
            )
        case .notCompacted(let path, let cause):
            self.init(
                .unavailable,
                "\(path) can't be compacted, so it keeps growing; all values are stored. Let this user write to the "
                    + "file's folder",
                cause: cause
            )
        case .refused(let path, let line, let reason):
            self.init(
                .unknownFormat,
                "\(path) can't be used by this version of the program: line \(line): \(reason); nothing was changed"
            )
        case .outcomeUnknown(let path, let cause):
            self.init(
                .outcomeUnknown,
                "writing \(path) failed, and it is unknown whether the change is stored; read the value again",
                cause: Self.described(cause)
            )
        case .notDurable(let path, let cause):
            self.init(
                .notDurable,
                "the values set in \(path) can be read but might not survive a loss of power; check the disk and set them again",
                cause: Self.described(cause)
            )
        }
    }

    /// Returns a cause whose description is a text: the one of a log's error is for programmers.
    private static func described(_ cause: any Error) -> any Error {
        (cause as? LogError).map { PreferenceError($0) } ?? cause
    }

    /// Creates the issue that the damaged lines of a file were moved when it was compacted.
    init(damageOf path: String, movedTo copy: String) {
        self.init(
            .damaged,
            "the lines of \(path) that can't be read were moved to \(copy) when the file was compacted; "
                + "correct them there and append them to the file, or leave them"
        )
    }

    /// Creates the issue that a line was skipped.
    init(_ damage: LogDamage) {
        let cure = damage.lineCount == 1 ? "correct it by hand or leave it" : "`prefs check --repair` rewrites it"
        self.init(
            .damaged,
            "line \(damage.line) of \(damage.path) can't be read and is skipped: \(damage.reason). It is kept; \(cure)"
        )
        damagedLine = (damage.path, damage.line)
    }
}
