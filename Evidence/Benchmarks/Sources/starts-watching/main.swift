import Glibc

// As `starts-plain`, and requests notifications of changes of a file, as each program that shares one must.
let queue = inotify_init1(Int32(IN_CLOEXEC))
let watch = inotify_add_watch(queue, CommandLine.arguments[1], UInt32(IN_MODIFY))
print(watch < 0 ? "no inotify" : "0")
