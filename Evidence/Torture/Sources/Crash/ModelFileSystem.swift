#if canImport(Glibc) && DEBUG
import Glibc

@testable import Preferences

/// A file system in memory that records what each call changed, from which the states after a loss of power are
/// derived.
///
/// There are no links, owners and modes, and no other process waits.
final class ModelFileSystem: FileSystem, @unchecked Sendable {  // `state` is a lock
    private struct State {
        var files: [Int: [UInt8]] = [:]
        var folders: [Int: [String: Int]] = [1: [:]]
        var lastNode = 1
        var opened: [Int32: (node: Int, position: Int)] = [:]
        var lastDescriptor: Int32 = 0
        var locks: [Int: Int32] = [:]
        /// The number of the last change of each file's content.
        var modified: [Int: Int64] = [:]
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

    /// Creates a file system with the contents of a tree, all of it on the medium; the numbered sync fails.
    init(_ tree: Tree = .folder([:]), failingSync: Int? = nil) {
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
            guard let entries = state.folders[node] else {
                throw FileSystemError(call: call, path: path, code: ENOTDIR)
            }
            guard let next = entries[part] else { throw FileSystemError(call: call, path: path, code: ENOENT) }
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

    override func open(_ path: String, for purpose: Purpose, named name: String? = nil) throws(FileSystemError)
        -> OpenFile
    {
        let descriptor = try change { state throws(FileSystemError) -> Int32 in
            if purpose == .replacing {
                state.draftNames[path.lastComponent] = ".preferences.jsonl.\(state.draftNames.count).new"
            }
            let (folder, name) = try Self.parent(path, state, "open")
            let isCreating = purpose == .creating || purpose == .replacing
            var node = name.isEmpty ? folder : state.folders[folder]?[name]
            if node != nil, purpose == .replacing { throw FileSystemError(call: "open", path: path, code: EEXIST) }
            if node == nil, isCreating {
                state.lastNode += 1
                node = state.lastNode
                state.files[state.lastNode] = []
                state.folders[folder]?[name] = node
                state.operations.append(.entries(folder: folder, [.init(name: name, node: node)]))
            }
            guard let node else { throw FileSystemError(call: "open", path: path, code: ENOENT) }
            if state.folders[node] != nil, purpose != .folder {
                throw FileSystemError(call: "open", path: path, code: EISDIR)
            }
            state.lastDescriptor += 1
            state.opened[state.lastDescriptor] = (node, 0)
            return state.lastDescriptor
        }
        return OpenFile(descriptor, name ?? path, isWritable: purpose != .reading && purpose != .folder, self)
    }

    override func close(_ descriptor: Int32) {
        state.withLock { state in
            guard let node = state.opened.removeValue(forKey: descriptor)?.node else { return }
            state.owedFailures.remove(descriptor)
            if state.locks[node] == descriptor { state.locks[node] = nil }
        }
    }

    private static func node(_ file: OpenFile, _ state: State) throws(FileSystemError) -> Int {
        guard let node = state.opened[file.descriptor]?.node else {
            throw FileSystemError(call: "model", path: file.path, code: EINVAL)
        }
        return node
    }

    override func read(
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

    override func append(_ bytes: UnsafeRawBufferPointer, to file: OpenFile) throws(FileSystemError) -> Int {
        let bytes = Array(bytes)
        return try change { state throws(FileSystemError) -> Int in
            let node = try Self.node(file, state)
            let offset = state.files[node]?.count ?? 0
            state.files[node]?.append(contentsOf: bytes)
            state.opened[file.descriptor]?.position = offset + bytes.count
            state.operations.append(.write(node: node, offset: offset, bytes))
            state.modified[node, default: 0] += 1
            return bytes.count
        }
    }

    override func position(_ file: OpenFile) throws(FileSystemError) -> Int64 {
        try change { state in Int64(state.opened[file.descriptor]?.position ?? 0) }
    }

    override func truncate(_ file: OpenFile, to size: Int64) throws(FileSystemError) {
        try change { state throws(FileSystemError) in
            let node = try Self.node(file, state)
            state.files[node] = Array((state.files[node] ?? []).prefix(Int(size)))
            state.operations.append(.truncate(node: node, size: Int(size)))
            state.modified[node, default: 0] += 1
        }
    }

    override func syncContent(_ file: OpenFile) throws(FileSystemError) { try sync(file) }

    override func sync(_ file: OpenFile) throws(FileSystemError) {
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
            if isFailing { throw FileSystemError(call: "fsync", path: file.path, code: EIO) }
        }
    }

    override func lock(_ file: OpenFile) throws(FileSystemError) -> Bool {
        try change { state throws(FileSystemError) in
            let node = try Self.node(file, state)
            if let holder = state.locks[node], holder != file.descriptor { return false }
            state.locks[node] = file.descriptor
            return true
        }
    }

    override func unlock(_ file: OpenFile) {
        state.withLock { state in
            guard let node = state.opened[file.descriptor]?.node, state.locks[node] == file.descriptor else { return }
            state.locks[node] = nil
        }
    }

    private static func status(_ node: Int, _ state: State) -> FileStatus {
        let isFolder = state.folders[node] != nil
        return FileStatus(
            device: 1,
            inode: UInt64(node),
            size: Int64(state.files[node]?.count ?? 0),
            modified: state.modified[node] ?? 0,
            changed: 0,
            mode: UInt32(isFolder ? S_IFDIR | 0o700 : S_IFREG | 0o600),
            owner: 0,
            group: 0,
            links: 1
        )
    }

    override func status(_ file: OpenFile) throws(FileSystemError) -> FileStatus {
        try change { state throws(FileSystemError) in Self.status(try Self.node(file, state), state) }
    }

    override func status(at path: String, followsLinks: Bool) throws(FileSystemError) -> FileStatus {
        try change { state throws(FileSystemError) in
            Self.status(try Self.node(Self.parts(path, state), state, "stat", path), state)
        }
    }

    override func rename(_ path: String, to newPath: String) throws(FileSystemError) {
        try move(path, newPath) { _ in nil }
    }

    override func exchange(_ path: String, with newPath: String) throws(FileSystemError) -> Bool {
        try move(path, newPath) { $0 }
        return true
    }

    /// Gives the node at a path another one in the same folder, and the first path a node instead of that which had the other one.
    private func move(_ path: String, _ newPath: String, _ old: (Int?) -> Int?) throws(FileSystemError) {
        try change { state throws(FileSystemError) in
            let (folder, name) = try Self.parent(path, state, "rename")
            let newName = try Self.parent(newPath, state, "rename").1
            guard let node = state.folders[folder]?[name] else {
                throw FileSystemError(call: "rename", path: path, code: ENOENT)
            }
            let replaced = old(state.folders[folder]?[newName])
            state.folders[folder]?[name] = replaced
            state.folders[folder]?[newName] = node
            state.operations.append(
                .entries(folder: folder, [.init(name: name, node: replaced), .init(name: newName, node: node)])
            )
        }
    }

    override func remove(_ path: String) throws(FileSystemError) {
        try change { state throws(FileSystemError) in
            let (folder, name) = try Self.parent(path, state, "unlink")
            guard state.folders[folder]?.removeValue(forKey: name) != nil else {
                throw FileSystemError(call: "unlink", path: path, code: ENOENT)
            }
            state.operations.append(.entries(folder: folder, [.init(name: name, node: nil)]))
        }
    }

    override func makeFolder(_ path: String) throws(FileSystemError) {
        try change { state throws(FileSystemError) in
            let (folder, name) = try Self.parent(path, state, "mkdir")
            if state.folders[folder]?[name] != nil { throw FileSystemError(call: "mkdir", path: path, code: EEXIST) }
            state.lastNode += 1
            state.folders[state.lastNode] = [:]
            state.folders[folder]?[name] = state.lastNode
            state.operations.append(.entries(folder: folder, [.init(name: name, node: state.lastNode)]))
        }
    }

    override func names(inFolder path: String) throws(FileSystemError) -> [String] {
        try change { state throws(FileSystemError) in
            Array((state.folders[try Self.node(Self.parts(path, state), state, "readdir", path)] ?? [:]).keys)
        }
    }

    override func setMode(_ mode: UInt32, of file: OpenFile) {}
    override func copyAccess(from old: OpenFile, _ oldStatus: FileStatus, to new: OpenFile) {}
    override func hasOtherNames(_ path: String) -> Bool { false }
    override func isRemote(_ path: String) -> Bool { false }
    override func isWritable(_ path: String, isFolder: Bool) -> Bool { true }
    override var isPrivileged: Bool { false }
    override var sizeLimit: Int64 { .max }
    override func sleep(nanoseconds: Int64) {}
}
#endif
