/// Syncs one file to stable storage on behalf of all threads that wait for it, and keeps how far it is synced.
///
/// It syncs through the descriptor that wrote, as the kernel reports write-back errors to that one. A sync that failed
/// is never tried again: the system has dropped the pages and would report success (fsync(2)).
final class FileSync: Sendable {
    let file: OpenFile
    private let fileSystem: any FileSystem
    private let state: Condition<State>

    private struct State {
        var synced: Int64 = 0
        var requested: Int64 = 0
        var isRunning = false
        var folders: [String]
        var failure: FileSystemError?
    }

    /// Creates the sync of a file of which `synced` bytes are on stable storage.
    ///
    /// - Parameter folders: The file's folder and those above it, which are synced with the first sync, so that the
    ///   file can be found after a loss of power.
    init(
        _ file: OpenFile,
        synced: Int64 = 0,
        folders: [String],
        failure: FileSystemError? = nil,
        fileSystem: any FileSystem
    ) {
        self.file = file
        self.fileSystem = fileSystem
        state = Condition(State(synced: synced, folders: folders, failure: failure))
    }

    /// Returns a new sync of the same file after another program has overwritten it from its beginning, so that nothing
    /// of it is known to be synced.
    func restarted() -> FileSync {
        state.withLock { FileSync(file, folders: $0.folders, failure: $0.failure, fileSystem: fileSystem) }
    }

    /// Returns a new sync of the same file after all of it was written again and synced.
    func rewritten(upTo end: Int64) -> FileSync {
        state.withLock { FileSync(file, synced: end, folders: $0.folders, fileSystem: fileSystem) }
    }

    /// The end up to which callers have asked for a sync.
    var requested: Int64 { state.withLock { $0.requested } }

    /// The folders that still have to be synced.
    var folders: [String] { state.withLock { $0.folders } }

    var failure: FileSystemError? { state.withLock { $0.failure } }

    /// Returns when all bytes up to `end`, which must be written already, survive a loss of power.
    ///
    /// One of the waiting threads syncs for all of them.
    func sync(upTo end: Int64) throws(FileSystemError) {
        while true {
            let step = state.wait { state -> Condition<State>.Wait<Step> in
                state.requested = max(state.requested, end)
                if let failure = state.failure { return .done(.fail(failure)) }
                if state.synced >= end && state.folders.isEmpty { return .done(.finish) }
                if state.isRunning { return .until(nil) }
                state.isRunning = true
                return .done(.sync(upTo: state.requested, state.folders))
            }
            switch step {
            case .finish: return
            case .fail(let failure): throw failure
            case .sync(let end, let folders): run(upTo: end, folders)
            }
        }
    }

    private enum Step {
        case finish, fail(FileSystemError), sync(upTo: Int64, [String])
    }

    private func run(upTo end: Int64, _ folders: [String]) {
        do throws(FileSystemError) {
            try ForkGate.waiting { () throws(FileSystemError) in try fileSystem.syncData(file) }
            for folder in folders {
                do { try fileSystem.syncFolder(folder) } catch {
                    // This user might only be able to traverse a folder further up, and so hasn't created anything in
                    // it.
                    if folder == LogPath(path: file.path).folder || !error.deniesWriting { throw error }
                }
            }
            state.signal { state in
                state.isRunning = false
                state.synced = max(state.synced, end)
                state.folders.removeAll(where: folders.contains)
            }
        } catch {
            state.signal { state in
                state.isRunning = false
                state.failure = error
            }
        }
    }
}
