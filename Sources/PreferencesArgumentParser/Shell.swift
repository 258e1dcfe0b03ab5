#if ArgumentParser
internal import DurableFile

#if canImport(Darwin)
/// Runs a command by the shell, and returns its status; see system(3), which Swift doesn't have there.
func runInShell(_ command: String) -> Int32 {
    let signals = [SIGINT, SIGQUIT]
    // Ctrl-C interrupts the command, not this program.
    let before = signals.map { ($0, signal($0, SIG_IGN)) }
    defer { for (number, action) in before { signal(number, action) } }
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
#else
/// Runs a command by the shell, and returns its status; see system(3).
func runInShell(_ command: String) -> Int32 { system(command) }
#endif
#endif
