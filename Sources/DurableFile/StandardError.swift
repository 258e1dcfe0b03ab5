#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The process's standard error.
package enum StandardError {
    /// Writes text, by one call where the system takes it whole, so that lines of several threads stay apart.
    package static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                #if canImport(Glibc)
                let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
                #elseif canImport(Musl)
                let count = Musl.write(STDERR_FILENO, rest.baseAddress, rest.count)
                #else
                let count = Darwin.write(STDERR_FILENO, rest.baseAddress, rest.count)
                #endif
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
        }
    }
}
