#ifndef C_DURABLE_FILE_H
#define C_DURABLE_FILE_H

#include "CThreadIdentity.h"

#include <stdbool.h>
#include <stdint.h>

/// Returns how often `fork` has created this process or its parents since the first call; a descriptor or thread with
/// an older count belongs to a parent.
uint64_t durable_file_fork_count(void);

/// The steps of a `fork`, all on the thread that calls it.
enum durable_file_fork_step { durable_file_fork_begins, durable_file_fork_in_parent, durable_file_fork_in_child };

/// Has each later `fork` call `handler` with each of its steps (pthread_atfork(3)); in the child, its fork has been counted.
void durable_file_handle_forks(void (*handler)(enum durable_file_fork_step));

/// Returns a mark of the calling thread, at first false.
bool *durable_file_thread_mark(void);

/// Whether the deinitializer of an object of a class of Swift has begun.
bool durable_file_is_deinitializing(void *object);

/// Runs `body(context)` on a new detached thread of that name, which handles none of the program's signals; returns 0
/// or an errno.
int durable_file_start_thread(const char *name, void (*body)(void *), void *context);

/// Initializes a `pthread_cond_t` that waits by a clock that can't be set.
///
/// Untyped, as otherwise Swift would find the types of pthread in this module.
void durable_file_condition_init(void *condition);

/// Waits for a condition at most this long.
void durable_file_condition_wait(void *condition, void *mutex, int64_t nanoseconds);

#if defined(__linux__)
/// Sleeps while the word has a value, until `durable_file_futex_wake` is called with it; might return earlier
/// (futex(2), which has no function in C).
void durable_file_futex_wait(const void *word, uint32_t value);

/// Wakes one thread that sleeps at the word.
void durable_file_futex_wake(const void *word);

/// Lets the processor save power, and the other thread of its core run, in a loop that waits for another thread.
static inline void durable_file_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}
#endif

/// The result of `stat` without the times.
struct durable_file_status {
    uint64_t device, inode;
    int64_t size;
    uint32_t mode, owner, group;
};

/// Gets the status of the file at a path, or of an open one if `path` is null; returns 0, or -1 and errno.
///
/// Doesn't request the times if the system lets a caller choose, which Swift's Glibc module can't (statx(2)).
int durable_file_get_status(int descriptor, const char *path, bool follows, struct durable_file_status *status);

/// Returns 1 if the file at a path has names outside of its folder, by several links or as a file that is mounted by
/// itself, else 0, or -1 and errno (statx(2), which Swift's Glibc module lacks).
int durable_file_has_other_names(const char *path);

#if defined(__linux__)
/// Returns 1 if a descriptor of any process can write to the file, 0 if none can or the file system doesn't tell, -1 with
/// `errno` if this user can't ask for another one's file (F_SETLEASE in fcntl(2), which Swift's Glibc module lacks).
///
/// The descriptor must be open for reading only.
int durable_file_has_writers(int descriptor);

/// Returns the magic number of the file system that holds `path` (statfs(2), which Swift's Glibc module lacks), or -1
/// and errno.
int64_t durable_file_system_type(const char *path);

/// Whether the program has more rights than its caller, as with set-user-ID (AT_SECURE in getauxval(3)).
bool durable_file_is_elevated(void);

/// Calls secure_getenv(3), which Swift's Glibc module lacks.
const char *durable_file_trusted_variable(const char *name);

/// Copies the extended attributes and the access control list of a file to another, which has no list afterwards if the
/// first has none; returns 0, or -1 and errno.
///
/// In C, as Swift's Glibc module lacks xattr(7).
int durable_file_copy_attributes(int from, int to);
#endif

#endif
