#ifndef C_DURABLE_FILE_H
#define C_DURABLE_FILE_H

#include "CThreadIdentity.h"

#include <stdbool.h>
#include <stdint.h>

/// How often this process came out of `fork` since it first asked; a descriptor or thread of an older count isn't its own.
uint64_t durable_file_fork_count(void);

/// Runs `body(context)` on a new detached thread of that name, which takes none of the program's signals; 0 or an errno.
int durable_file_start_thread(const char *name, void (*body)(void *), void *context);

/// Makes a `pthread_cond_t` that waits by the clock that nobody sets.
///
/// Untyped, as this module would else be where Swift finds the types of pthread.
void durable_file_condition_init(void *condition);

/// Waits for a condition at most that long.
void durable_file_condition_wait(void *condition, void *mutex, int64_t nanoseconds);

/// What `stat` tells but for the times.
struct durable_file_status {
    uint64_t device, inode;
    int64_t size;
    uint32_t mode, owner, group;
};

/// Tells of the file at a path, or of an open one if there is no path; 0, or -1 and errno.
///
/// Doesn't ask for times where the system lets a caller choose, as Swift's Glibc module can't (statx(2)).
int durable_file_get_status(int descriptor, const char *path, bool follows, struct durable_file_status *status);

#if defined(__linux__)
/// The magic number of the file system that holds `path` (statfs(2), which Swift's Glibc module lacks); -1 and errno.
int64_t durable_file_system_type(const char *path);

/// secure_getenv(3), which Swift's Glibc module lacks.
const char *durable_file_trusted_variable(const char *name);

/// Gives a file the extended attributes and the access control list of another, or no list if that has none; 0, or -1 and errno.
///
/// Here since Swift's Glibc module lacks xattr(7).
int durable_file_copy_attributes(int from, int to);
#endif

#endif
