/// A small file that is replaced as a whole, so that each reader finds all of an old text or all of a new one.
struct WholeFile {
    private let log: Log
    private var system: FileSystem { log.system }

    init(_ path: String, _ system: FileSystem = .system, trustsOwner: Bool = false) {
        log = Log(path, system, trustsOwner: trustsOwner)
    }

    /// Replaces the bytes by those that `change` returns, atomically also across processes; writes nothing if they are equal.
    ///
    /// `change` may be called twice. It gets nil if there is no file. A missing file is created with mode 0600 and its folders with 0700; an
    /// existing one keeps its owner, mode and access control list. Links are followed. When this returns, the new bytes survive a loss of
    /// power; if it throws, the old ones are unchanged, unless the error is `notDurable`.
    func update(until deadline: PreferenceDeadline, _ change: ([UInt8]?) throws -> [UInt8]) throws {
        // Usually there is nothing to do, which needs no lock.
        let before = try read()?.bytes
        guard try change(before) != before else { return }
        _ = try system.makeFolders(to: log.path)
        let target = try PathWalk(log.path, system).real
        // The file itself can't be locked, as each change replaces it. Closing the folder unlocks it.
        let folder = try system.open(target.folder, for: .folder)
        var wait = LockWait(deadline)
        while try !lock(folder) { try wait.pause(system) }
        try withExtendedLifetime(folder) {
            let old = try read()
            let bytes = try change(old?.bytes)
            if bytes != old?.bytes { try replace(old?.file, at: target, by: bytes) }
        }
    }

    private func lock(_ folder: OpenFile) throws(FileSystemError) -> Bool {
        do { return try system.lock(folder) } catch {
            // Some file systems, such as NFS, lock no folder. There, one of two changes at the same moment is lost as a whole.
            return true
        }
    }

    private func read() throws(FileSystemError) -> (bytes: [UInt8], file: OpenFile)? {
        do {
            let (file, status) = try log.opening(for: .reading)
            return (try log.bytes(of: file, from: 0, count: Int(status.size)), file)
        } catch {
            if error.isNoEntry { return nil }
            throw error
        }
    }

    private func replace(_ old: OpenFile?, at target: String, by bytes: [UInt8]) throws {
        log.removeDrafts()
        let (draft, new) = try log.openDraft(of: target)
        do {
            if let old { try system.copyAccess(from: old, system.status(old), to: new) }
            try log.writeAll(bytes, to: new)
            try system.sync(new)
            try system.rename(draft, to: target)
        } catch {
            system.discard(draft)
            throw error
        }
        do throws(FileSystemError) { try system.sync(system.open(target.folder, for: .folder)) } catch {
            throw PreferenceError(
                .notDurable,
                "\(log.path) is written but might not survive a loss of power; check the disk",
                cause: error
            )
        }
    }
}

extension Source {
    /// Replaces the bytes of a file beside the source's file, atomically also across processes; does nothing if the source has no file.
    ///
    /// - Parameter change: Gets the bytes, nil if there is no file, and returns the new ones; it may be called twice.
    /// - Throws: An error for the file that can't be written, which is unchanged then; what `change` throws.
    package func updateFile(besides name: String, _ change: ([UInt8]?) throws -> [UInt8]) throws(PreferenceError) {
        guard let backend = own as? FileBackend else { return }
        let path = backend.place.folder.entry(name)
        do { try backend.file(path).update(until: .period(backend.timeout), change) } catch let error as FileSystemError
        {
            let error = PreferenceError(error, isWriting: true)
            throw PreferenceError(
                error.code == .readOnly ? .notPermitted : error.code,
                "\(path) can't be written; nothing was changed. Check the owner and the mode of the file and its folder",
                cause: error
            )
        } catch is LockedTooLong {
            throw PreferenceError(
                .busy,
                "another process has held the lock of \(path) for \(timeout); nothing was changed. Try again"
            )
        } catch { throw PreferenceError(.unavailable, from: error) }
    }
}
