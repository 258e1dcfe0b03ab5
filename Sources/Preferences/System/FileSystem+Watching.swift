#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension FileSystem {
    /// The events of a watch.
    enum Interest {
        /// The names in a folder, and the contents of its files, too.
        case names, contents
        /// One file, whatever its name.
        case file
    }

    /// An event of a watch, whose number is -1 if events were lost; of a folder itself if it has no name.
    struct WatchEvent {
        let watch: Int32
        let name: String
        /// Whether a path might lead elsewhere now.
        let isMove: Bool
    }
}

#if os(Linux)
// inotify(7)
extension FileSystem {
    func openWatchQueue() throws(FileSystemError) -> Int32 {
        try high(try retrying("inotify_init1", "") { inotify_init1(Int32(IN_CLOEXEC)) }, "")
    }

    func addWatch(_ path: String, for interest: Interest, to queue: Int32) throws(FileSystemError) -> Int32 {
        // IN_ATTRIB: a folder that this user may enter from now on, a file that gets another link.
        let names = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
        let content = IN_MODIFY | IN_CLOSE_WRITE
        let events =
            switch interest {
            case .names: names | IN_ONLYDIR
            case .contents: names | content | IN_ONLYDIR
            case .file: content | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
            }
        return try retrying("inotify_add_watch", path) {
            inotify_add_watch(queue, path, UInt32(events) | UInt32(IN_MASK_ADD))
        }
    }

    func removeWatch(_ watch: Int32, from queue: Int32) { inotify_rm_watch(queue, watch) }

    /// Waits for events and passes them to `body`; throws if there can't be any more.
    func readWatchEvents(_ queue: Int32, _ body: (WatchEvent) -> Void) throws(FileSystemError) {
        var events: [WatchEvent] = []
        _ = try retrying("read", "inotify") {
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                let count = readBytes(queue, buffer)
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
                    let start = offset + MemoryLayout<inotify_event>.size
                    let name = buffer[start..<start + Int(event.len)].prefix { $0 != 0 }
                    let isLost = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                    events.append(
                        WatchEvent(
                            watch: isLost ? -1 : event.wd,
                            name: String(decoding: name, as: UTF8.self),
                            isMove: event.mask & UInt32(IN_MODIFY | IN_CLOSE_WRITE) == 0
                        )
                    )
                    offset = start + Int(event.len)
                }
                return count
            }
        }
        if events.isEmpty { throw FileSystemError(call: "read", path: "inotify", code: EINVAL) }
        for event in events { body(event) }
    }
}

// A C function that is hidden by a method of the same name.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
#endif

#if canImport(Darwin)
// The kernel reports no names in folders, and each watched file would need a descriptor (kqueue(2)): files are polled.
extension FileSystem {
    private static let unsupported = FileSystemError(call: "kqueue", path: "", code: ENOTSUP)

    func openWatchQueue() throws(FileSystemError) -> Int32 { throw Self.unsupported }
    func addWatch(_ path: String, for interest: Interest, to queue: Int32) throws(FileSystemError) -> Int32 {
        throw Self.unsupported
    }
    func removeWatch(_ watch: Int32, from queue: Int32) {}
    func readWatchEvents(_ queue: Int32, _ body: (WatchEvent) -> Void) throws(FileSystemError) {
        throw Self.unsupported
    }
}
#endif
