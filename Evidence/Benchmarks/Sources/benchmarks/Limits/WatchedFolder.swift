import Foundation
import Glibc

/// A folder that inotify watches for this process, as it does a store's, with a thread that reads the events.
final class WatchedFolder {
    private let stopping: Pipe
    private let stopped = DispatchSemaphore(value: 0)

    /// Watches for the events that the library requests.
    init(_ path: String) throws {
        let queue = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        let names = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
        let mask = UInt32(names | IN_MODIFY | IN_CLOSE_WRITE) | UInt32(IN_ONLYDIR)
        stopping = Pipe()
        guard queue >= 0, inotify_add_watch(queue, path, mask) >= 0 else { throw Failure("no inotify") }
        Thread.detachNewThread { [stopping, stopped] in
            Self.drain(queue, until: stopping.fileHandleForReading.fileDescriptor)
            close(queue)
            stopped.signal()
        }
    }

    deinit {
        stopping.fileHandleForWriting.write(Data([1]))
        stopped.wait()
    }

    private static func drain(_ queue: Int32, until stopping: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var waiting = [queue, stopping].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&waiting, 2, -1) >= 0, waiting[1].revents == 0 {
            _ = read(queue, &buffer, buffer.count)
            // The library also lets the events of its process accumulate for this time.
            usleep(1000)
        }
    }
}
