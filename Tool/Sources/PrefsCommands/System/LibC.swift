// The C library under one name on all platforms: importing this module imports it. What differs between them is below.
#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#else
@_exported public import Darwin
#endif

// Methods of the tool have the names of these functions.

/// Writes bytes to a descriptor; see write(2).
func writeBytes(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

/// Accepts a connection; see accept(2).
package func acceptConnection(_ listener: Int32) -> Int32 {
    let descriptor = accept(listener, nil, nil)
    #if canImport(Darwin)
    // There, the socket has the flag, not the call.
    var isSet: Int32 = 1
    if descriptor >= 0 {
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isSet, socklen_t(MemoryLayout<Int32>.size))
    }
    #endif
    return descriptor
}

/// Sends bytes to an accepted connection, without a signal if it is closed; see send(2).
package func sendBytes(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
    #if canImport(Darwin)
    send(descriptor, bytes.baseAddress, bytes.count, 0)
    #else
    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #endif
}

/// Closes a descriptor; see close(2).
package func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

#if canImport(Glibc)
package let streamSocket = Int32(SOCK_STREAM.rawValue)
package let limitOfOpenFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#else
package let streamSocket = SOCK_STREAM
package let limitOfOpenFiles = RLIMIT_NOFILE
#endif

#if canImport(Darwin)
typealias SpawnActions = posix_spawn_file_actions_t?
typealias SpawnAttributes = posix_spawnattr_t?

/// Returns what posix_spawn_file_actions_init(3) and posix_spawnattr_init(3) initialize.
func uninitializedSpawn() -> (actions: SpawnActions, attributes: SpawnAttributes) { (nil, nil) }

/// The environment of this process, for its children.
var environmentOfChildren: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? { _NSGetEnviron().pointee }

/// Returns the path of this program's file; `nil` with the reason in `errno` if it can't be found.
func pathOfThisProgram() -> String? {
    var length: UInt32 = 0
    _NSGetExecutablePath(nil, &length)
    var bytes = [CChar](repeating: 0, count: Int(length))
    guard _NSGetExecutablePath(&bytes, &length) == 0, let path = realpath(bytes, nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
}

extension stat {
    /// When the file was written, and when its state changed.
    var times: (written: timespec, changed: timespec) { (st_mtimespec, st_ctimespec) }
}
#else
typealias SpawnActions = posix_spawn_file_actions_t
typealias SpawnAttributes = posix_spawnattr_t

/// Returns what posix_spawn_file_actions_init(3) and posix_spawnattr_init(3) initialize.
func uninitializedSpawn() -> (actions: SpawnActions, attributes: SpawnAttributes) {
    (posix_spawn_file_actions_t(), posix_spawnattr_t())
}

/// The environment of this process, for its children.
var environmentOfChildren: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? { environ }

/// Returns the path of this program's file; `nil` with the reason in `errno` if it can't be found.
func pathOfThisProgram() -> String? {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    return String(cString: path)
}

extension stat {
    /// When the file was written, and when its state changed.
    var times: (written: timespec, changed: timespec) { (st_mtim, st_ctim) }
}
#endif
