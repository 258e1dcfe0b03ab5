#if canImport(Glibc)
import Glibc

/// A file system in memory that records what each call changed, from which the states after a loss of power are
/// derived.
///
/// Time passes only in `sleep`.
final class ModelFileSystem: FileSystem {
    private struct State {
        var files: [Int: [UInt8]] = [:]
        var folders: [Int: [String: Int]] = [1: [:]]
        var lastNode = 1
        var opened: [Int32: (node: Int, position: Int)] = [:]
        var lastDescriptor: Int32 = 0
        var locks: [Int: Int32] = [:]
        var time = Duration.zero
        var operations: [Operation] = []
        var syncs = 0
        var failingSync: Int?
        /// The descriptors that haven't reported another descriptor's failed sync yet.
        var owedFailures: Set<Int32> = []
        /// Names of drafts are random; here they are numbered, so that equal runs leave equal states.
        var draftNames: [String: String] = [:]
        var calls = 0
        var hook: (call: Int, body: @Sendable () -> Void)?
    }

    private let state: Lock<State>
    /// Whether each file is mounted by itself, so that none can be replaced.
    private let isMounted: Bool

    /// Creates a file system with the contents of a tree, all of it on the medium; the numbered sync fails.
    init(_ tree: Tree = .folder([:]), failingSync: Int? = nil, isMounted: Bool = false) {
        self.isMounted = isMounted
        var state = State()
        state.failingSync = failingSync
        state.folders[1] = Self.entries(of: tree, &state)
        self.state = Lock(state)
    }

    private static func entries(of tree: Tree, _ state: inout State) -> [String: Int] {
        guard case .folder(let children) = tree else { return [:] }
        var entries: [String: Int] = [:]
        for (name, child) in children {
            state.lastNode += 1
            let node = state.lastNode
            entries[name] = node
            switch child {
            case .file(let bytes): state.files[node] = bytes
            case .folder: state.folders[node] = self.entries(of: child, &state)
            }
        }
        return entries
    }

    // MARK: Use by experiments

    var operations: [Operation] { state.withLock { $0.operations } }
    var syncs: Int { state.withLock { $0.syncs } }

    var calls: Int { state.withLock { $0.calls } }

    /// Runs `body` once, just before the numbered call.
    func before(call: Int, _ body: @escaping @Sendable () -> Void) { state.withLock { $0.hook = (call, body) } }

    var isLocked: Bool { state.withLock { !$0.locks.isEmpty } }

    func mark(_ mark: Operation.Mark) { state.withLock { $0.operations.append(.mark(mark)) } }

    /// Appends as a shell does.
    func append(_ text: String, to path: String) throws {
        let file = try open(path, for: .appending)
        try Array(text.utf8).withUnsafeBytes { _ = try append($0, to: file) }
    }

    // MARK: Paths

    private static func parts(_ path: String, _ state: State) -> [String] {
        path.split(separator: "/").map { state.draftNames[String($0)] ?? String($0) }
    }

    private static func node(_ parts: [String], _ state: State, _ call: String, _ path: String) throws(FileSystemError)
        -> Int
    {
        var node = 1
        for part in parts {
            guard let entries = state.folders[node] else { throw FileSystemError(call, path, .notAFolder) }
            guard let next = entries[part] else { throw FileSystemError(call, path, .noEntry) }
            node = next
        }
        return node
    }

    private static func parent(_ path: String, _ state: State, _ call: String) throws(FileSystemError) -> (Int, String)
    {
        let parts = parts(path, state)
        return (try node(Array(parts.dropLast()), state, call, path), parts.last ?? "")
    }

    private func change<Result: Sendable>(
        _ body: (inout State) throws(FileSystemError) -> Result
    ) throws(FileSystemError) -> Result {
        let hook = state.withLock { state -> (@Sendable () -> Void)? in
            defer { state.calls += 1 }
            guard let hook = state.hook, hook.call == state.calls else { return nil }
            state.hook = nil
            return hook.body
        }
        hook?()
        return try state.withLock { state throws(FileSystemError) in try body(&state) }
    }

    // MARK: The calls

    func open(_ path: String, for purpose: OpenPurpose) throws(FileSystemError) -> OpenFile {
        let descriptor = try change { state throws(FileSystemError) -> Int32 in
            if purpose == .replacing, path.hasSuffix(".new"),
                let name = path.split(separator: "/").last.map(String.init)
            {
                state.draftNames[name] = ".preferences.jsonl.\(state.draftNames.count).new"
            }
            let (folder, name) = try Self.parent(path, state, "open")
            let isCreating = purpose == .creating || purpose == .replacing
            var node = name.isEmpty ? folder : state.folders[folder]?[name]
            if node != nil, purpose == .replacing { throw FileSystemError("open", path, .exists) }
            if node == nil, isCreating {
                state.lastNode += 1
                node = state.lastNode
                state.files[state.lastNode] = []
                state.folders[folder]?[name] = node
                state.operations.append(.entries(folder: folder, [.init(name: name, node: node)]))
            }
            guard let node else { throw FileSystemError("open", path, .noEntry) }
            if state.folders[node] != nil, purpose != .folder { throw FileSystemError("open", path, .isFolder) }
            state.lastDescriptor += 1
            state.opened[state.lastDescriptor] = (node, 0)
            return state.lastDescriptor
        }
        return OpenFile(descriptor: descriptor, path: path, fileSystem: self)
    }

    func close(_ descriptor: Int32) {
        state.withLock { state in
            guard let node = state.opened.removeValue(forKey: descriptor)?.node else { return }
            state.owedFailures.remove(descriptor)
            if state.locks[node] == descriptor { state.locks[node] = nil }
        }
    }

    private static func node(_ file: OpenFile, _ state: State) throws(FileSystemError) -> Int {
        guard let node = state.opened[file.descriptor]?.node else {
            throw FileSystemError("model", file.path, .invalid)
        }
        return node
    }

    func read(
        _ file: OpenFile,
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(FileSystemError) -> Int {
        let bytes = try change { state throws(FileSystemError) -> [UInt8] in
            let all = state.files[try Self.node(file, state)] ?? []
            return Array(all.dropFirst(Int(offset)).prefix(buffer.count))
        }
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    func append(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileSystemError) -> Int {
        let bytes = Array(bytes)
        return try change { state throws(FileSystemError) -> Int in
            let node = try Self.node(file, state)
            let offset = state.files[node]?.count ?? 0
            state.files[node]?.append(contentsOf: bytes)
            state.opened[file.descriptor]?.position = offset + bytes.count
            state.operations.append(.write(node: node, offset: offset, bytes))
            return bytes.count
        }
    }

    func overwrite(_ bytes: UnsafeRawBufferPointer, in file: OpenFile, at offset: Int64) throws(FileSystemError) -> Int
    {
        let bytes = Array(bytes)
        return try change { state throws(FileSystemError) -> Int in
            let node = try Self.node(file, state)
            let count = state.files[node]?.count ?? 0
            let end = min(count, Int(offset) + bytes.count)
            state.files[node]?.replaceSubrange(Int(offset)..<end, with: bytes)
            state.operations.append(.write(node: node, offset: Int(offset), bytes))
            return bytes.count
        }
    }

    func position(_ file: OpenFile) throws(FileSystemError) -> Int64 {
        Int64(state.withLock { $0.opened[file.descriptor]?.position ?? 0 })
    }

    func truncate(_ file: OpenFile, to size: Int64) throws(FileSystemError) {
        try change { state throws(FileSystemError) in
            let node = try Self.node(file, state)
            let bytes = state.files[node] ?? []
            state.files[node] = Array(bytes.prefix(Int(size)))
            state.operations.append(.truncate(node: node, size: Int(size)))
        }
    }

    func syncData(_ file: OpenFile) throws(FileSystemError) { try sync(file, "fdatasync") }
    func sync(_ file: OpenFile) throws(FileSystemError) { try sync(file, "fsync") }

    private func sync(_ file: OpenFile, _ call: String) throws(FileSystemError) {
        try change { state throws(FileSystemError) in
            let node = try Self.node(file, state)
            defer { state.syncs += 1 }
            // Linux reports a failed write-back once to each descriptor that was open then (fsync(2)).
            let isFailing = state.syncs == state.failingSync || state.owedFailures.remove(file.descriptor) != nil
            if state.syncs == state.failingSync {
                state.owedFailures.formUnion(state.opened.filter { $0.value.node == node }.keys)
                state.owedFailures.remove(file.descriptor)
            }
            state.operations.append(isFailing ? .failedSync(node: node) : .sync(node: node))
            if isFailing { throw FileSystemError(call, file.path, .inputOutput) }
        }
    }

    func lock(_ file: OpenFile) throws(FileSystemError) -> Bool {
        try change { state throws(FileSystemError) in
            let node = try Self.node(file, state)
            if let holder = state.locks[node], holder != file.descriptor { return false }
            state.locks[node] = file.descriptor
            return true
        }
    }

    func unlock(_ file: OpenFile) throws(FileSystemError) {
        try change { state throws(FileSystemError) in
            let node = try Self.node(file, state)
            if state.locks[node] == file.descriptor { state.locks[node] = nil }
        }
    }

    private static func status(_ node: Int, _ state: State) -> FileStatus {
        FileStatus(
            identity: FileIdentity(device: 1, inode: UInt64(node)),
            kind: state.folders[node] == nil ? .file : .folder,
            size: Int64(state.files[node]?.count ?? 0),
            mode: state.folders[node] == nil ? 0o600 : 0o700,
            owner: 0,
            group: 0
        )
    }

    func status(_ file: OpenFile) throws(FileSystemError) -> FileStatus {
        try change { state throws(FileSystemError) in Self.status(try Self.node(file, state), state) }
    }

    func status(at path: String) throws(FileSystemError) -> FileStatus {
        try change { state throws(FileSystemError) in
            Self.status(try Self.node(Self.parts(path, state), state, "stat", path), state)
        }
    }

    /// Returns 0, as no file is polled.
    func changeTimes(at path: String) throws(FileSystemError) -> ChangeTimes { ChangeTimes(modified: 0, changed: 0) }
    func hasOtherNames(_ path: String) throws(FileSystemError) -> Bool { isMounted }
    func isWritable(_ path: String, _ kind: FileStatus.Kind) throws(FileSystemError) -> Bool { true }
    func hasWriters(_ file: OpenFile) throws(FileSystemError) -> Bool { false }
    func reopen(_ file: OpenFile) throws(FileSystemError) -> OpenFile {
        let descriptor = try change { state throws(FileSystemError) -> Int32 in
            let node = try Self.node(file, state)
            state.lastDescriptor += 1
            state.opened[state.lastDescriptor] = (node, 0)
            return state.lastDescriptor
        }
        return OpenFile(descriptor: descriptor, path: file.path, fileSystem: self)
    }

    /// Returns the status of the path itself, as there are no links.
    func linkStatus(at path: String) throws(FileSystemError) -> FileStatus { try status(at: path) }
    func target(ofLinkAt path: String) throws(FileSystemError) -> String {
        throw FileSystemError("readlink", path, .invalid)
    }

    func rename(_ path: String, to newPath: String) throws(FileSystemError) {
        try change { state throws(FileSystemError) in
            let (folder, name) = try Self.parent(path, state, "rename")
            let (newFolder, newName) = try Self.parent(newPath, state, "rename")
            guard let node = state.folders[folder]?[name] else { throw FileSystemError("rename", path, .noEntry) }
            guard folder == newFolder else { throw FileSystemError("rename", path, .notSupported) }
            state.folders[folder]?[name] = nil
            state.folders[folder]?[newName] = node
            state.operations.append(
                .entries(folder: folder, [.init(name: name, node: nil), .init(name: newName, node: node)])
            )
        }
    }

    func remove(_ path: String) throws(FileSystemError) {
        try change { state throws(FileSystemError) in
            let (folder, name) = try Self.parent(path, state, "unlink")
            guard state.folders[folder]?.removeValue(forKey: name) != nil else {
                throw FileSystemError("unlink", path, .noEntry)
            }
            state.operations.append(.entries(folder: folder, [.init(name: name, node: nil)]))
        }
    }

    func makeFolder(_ path: String) throws(FileSystemError) {
        try change { state throws(FileSystemError) in
            let (folder, name) = try Self.parent(path, state, "mkdir")
            if state.folders[folder]?[name] != nil { throw FileSystemError("mkdir", path, .exists) }
            state.lastNode += 1
            state.folders[state.lastNode] = [:]
            state.folders[folder]?[name] = state.lastNode
            state.operations.append(.entries(folder: folder, [.init(name: name, node: state.lastNode)]))
        }
    }

    func names(inFolder path: String) throws(FileSystemError) -> [String] {
        try change { state throws(FileSystemError) in
            Array((state.folders[try Self.node(Self.parts(path, state), state, "readdir", path)] ?? [:]).keys)
        }
    }

    func setMode(_ file: OpenFile, _ mode: UInt32) throws(FileSystemError) {}
    func setOwner(_ file: OpenFile, _ owner: UInt32, _ group: UInt32) throws(FileSystemError) {}
    var user: UInt32 { 0 }
    var isPrivileged: Bool { true }
    func copyAttributes(from: OpenFile, to: OpenFile) throws(FileSystemError) {}
    func isRemote(_ path: String) throws(FileSystemError) -> Bool { false }
    func makeEventQueue() throws(FileSystemError) -> OpenFile? { nil }
    func addWatch(_ queue: OpenFile, folder: String, namesOnly: Bool) throws(FileSystemError) -> Int32 { 0 }
    func addWatch(_ queue: OpenFile, file: String) throws(FileSystemError) -> Int32 { 0 }
    func removeWatch(_ queue: OpenFile, _ watch: Int32) throws(FileSystemError) {}
    func events(_ queue: OpenFile) throws(FileSystemError) -> [FolderEvent] { [] }
    func makePipe() throws(FileSystemError) -> (reading: OpenFile, writing: OpenFile) {
        throw FileSystemError("pipe", "", .notSupported)
    }
    func wake(_ pipe: OpenFile) {}
    func drain(_ pipe: OpenFile) {}
    func wait(for queue: OpenFile?, or pipe: OpenFile?, atMost timeout: Duration?) throws(FileSystemError)
        -> (queue: Bool, pipe: Bool)
    { (false, false) }
    func now() -> Duration { state.withLock { $0.time } }
    func sleep(_ duration: Duration) { state.withLock { $0.time += duration } }
}
#endif
