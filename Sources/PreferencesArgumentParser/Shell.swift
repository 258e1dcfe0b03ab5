#if ArgumentParser
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

#if os(macOS)
/// Runs a command by the shell, and returns its status; see system(3), which Swift doesn't have there.
func runInShell(_ command: String) -> Int32 {
    let signals = [SIGINT, SIGQUIT]
    // Ctrl-C interrupts the command, not this program. With `sigaction`, as `signal` would restore a handler without its flags.
    var ignoring = sigaction()
    ignoring.__sigaction_u.__sa_handler = SIG_IGN
    let before = signals.map { number in
        var action = sigaction()
        sigaction(number, &ignoring, &action)
        return action
    }
    defer {
        for (number, action) in zip(signals, before) {
            var action = action
            sigaction(number, &action, nil)
        }
    }
    var attributes: posix_spawnattr_t?
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var defaults = sigset_t()
    sigemptyset(&defaults)
    for number in signals { sigaddset(&defaults, number) }
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    let words = (["/bin/sh", "-c", command] as [String]).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var (child, status) = (pid_t(), Int32())
    guard posix_spawn(&child, "/bin/sh", nil, &attributes, words, _NSGetEnviron().pointee) == 0 else { return -1 }
    while waitpid(child, &status, 0) < 0 {
        guard errno == EINTR else { return -1 }
    }
    return status
}
#elseif canImport(Darwin)
/// Returns a failure: a program can start no other one on the other platforms of Apple.
func runInShell(_ command: String) -> Int32 { -1 }
#else
/// Runs a command by the shell, and returns its status; see system(3).
func runInShell(_ command: String) -> Int32 { system(command) }
#endif
#endif
