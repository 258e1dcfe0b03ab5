// error: cannot find 'inotify_init1' in scope
#if canImport(Darwin)
internal import Darwin

func makeQueue() -> Int32 { inotify_init1(0) }
#endif
