import Glibc

/// A C library that is loaded at run time.
struct DynamicLibrary {
    private nonisolated(unsafe) let handle: UnsafeMutableRawPointer
    private let file: String
    private let isInstallable: Bool

    /// - Parameter package: The Debian package that brings the file.
    init(_ file: String, package: String) throws {
        try self.init(file, or: Unavailable("\(file) is missing; install \(package)"))
    }

    /// - Parameter problem: Thrown if there is no such file.
    init(_ file: String, or problem: Unavailable) throws {
        guard let handle = dlopen(file, RTLD_NOW | RTLD_GLOBAL) else { throw problem }
        self.handle = handle
        self.file = file
        isInstallable = problem.isInstallable
    }

    /// Returns a function of the library; the caller's type must be that of the library's header.
    func function<Function>(_ name: String, as type: Function.Type = Function.self) throws -> Function {
        guard let symbol = dlsym(handle, name) else {
            throw Unavailable("\(file) has no \(name)", isInstallable: isInstallable)
        }
        return unsafeBitCast(symbol, to: type)
    }
}
