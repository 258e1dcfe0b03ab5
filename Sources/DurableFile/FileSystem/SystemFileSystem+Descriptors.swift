// A program might be started, or become a daemon, with some of the descriptors 0 to 2 closed. The next file that it opens
// gets such a number, and then what the program writes to its standard error is appended to that file.
extension SystemFileSystem {
    /// Opens a descriptor above 2, by a call that returns the lowest free one.
    static func opening(
        _ call: String,
        _ path: @autoclosure () -> String,
        _ body: () -> Int32
    ) throws(FileSystemError) -> Int32 {
        occupyLowDescriptors()
        let descriptor = try retrying(call, path(), body)
        return try moved(descriptor, call, path())
    }

    /// Returns a descriptor above 2 in place of one that isn't because another thread has just closed that number.
    static func moved(
        _ descriptor: Int32,
        _ call: String,
        _ path: @autoclosure () -> String
    ) throws(FileSystemError) -> Int32 {
        if descriptor > STDERR_FILENO { return descriptor }
        defer { closeDescriptor(descriptor) }
        return try retrying(call, path()) { fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) }
    }

    /// Opens a folder in the place of each closed one of the descriptors 0 to 2: reading and writing fail as before.
    ///
    /// They stay open. Another thread might put a file of its own there by dup2(2) at any moment, which closing them
    /// would close.
    static func occupyLowDescriptors() {
        guard isLowDescriptorClosed else { return }
        while true {
            let descriptor = openFolder("/")
            if descriptor > STDERR_FILENO { closeDescriptor(descriptor) }
            if descriptor < 0 || descriptor > STDERR_FILENO { return }
        }
    }

    private static var isLowDescriptorClosed: Bool {
        // poll(2) returns POLLNVAL for closed ones: one call for all three.
        var entries = (
            pollfd(fd: STDIN_FILENO, events: 0, revents: 0), pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
            pollfd(fd: STDERR_FILENO, events: 0, revents: 0)
        )
        let found = withUnsafeMutableBytes(of: &entries) {
            poll($0.assumingMemoryBound(to: pollfd.self).baseAddress, 3, 0)
        }
        return found > 0 && (entries.0.revents | entries.1.revents | entries.2.revents) & Int16(POLLNVAL) != 0
    }
}

private func openFolder(_ path: String) -> Int32 { open(path, SystemFileSystem.placeholder) }
