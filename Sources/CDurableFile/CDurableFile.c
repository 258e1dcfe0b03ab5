#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "CDurableFile.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#if defined(__linux__)
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#endif

static _Atomic uint64_t forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void (*_Atomic fork_handler)(enum durable_file_fork_step);

static void handle_fork(enum durable_file_fork_step step) {
    void (*handler)(enum durable_file_fork_step) = atomic_load_explicit(&fork_handler, memory_order_acquire);
    if (handler) handler(step);
}

static void before_fork(void) { handle_fork(durable_file_fork_begins); }
static void in_parent(void) { handle_fork(durable_file_fork_in_parent); }
static void in_child(void) {
    atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed);
    handle_fork(durable_file_fork_in_child);
}
static void watch_forks(void) { pthread_atfork(before_fork, in_parent, in_child); }

void durable_file_handle_forks(void (*handler)(enum durable_file_fork_step)) {
    atomic_store_explicit(&fork_handler, handler, memory_order_release);
    pthread_once(&once, watch_forks);
}

uint64_t durable_file_fork_count(void) {
    pthread_once(&once, watch_forks);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

bool *durable_file_thread_mark(void) {
    static __thread bool mark = false;
    return &mark;
}

// A function of Swift's runtime, as `include/swift/Runtime/HeapObject.h` declares it.
bool swift_isDeallocating(void *object);

bool durable_file_is_deinitializing(void *object) { return swift_isDeallocating(object); }

struct start {
    char name[16];
    void (*body)(void *);
    void *context;
};

static void *run(void *argument) {
    struct start start = *(struct start *)argument;
    free(argument);
#if defined(__linux__)
    pthread_setname_np(pthread_self(), start.name);
#elif defined(__APPLE__)
    pthread_setname_np(start.name);
#endif
    start.body(start.context);
    return NULL;
}

int durable_file_start_thread(const char *name, void (*body)(void *), void *context) {
    struct start *start = calloc(1, sizeof *start);
    if (!start) return ENOMEM;
    strncpy(start->name, name, sizeof start->name - 1);
    start->body = body;
    start->context = context;

    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, run, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error) free(start);
    return error;
}

void durable_file_condition_init(void *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
#if defined(__linux__)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
#endif
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

void durable_file_condition_wait(void *condition, void *mutex, int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
#if defined(__APPLE__)
    pthread_cond_timedwait_relative_np(condition, mutex, &time);
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time.tv_sec += now.tv_sec;
    time.tv_nsec += now.tv_nsec;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(condition, mutex, &time);
#endif
}

#if defined(__linux__)
void durable_file_futex_wait(const void *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL);
}

void durable_file_futex_wake(const void *word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1); }
#endif

static int status_with_times(int descriptor, const char *path, bool follows, struct durable_file_status *status) {
    struct stat found;
    int result = path == NULL ? fstat(descriptor, &found) : follows ? stat(path, &found) : lstat(path, &found);
    if (result != 0) return result;
    *status = (struct durable_file_status){
        .device = (uint64_t)found.st_dev,
        .inode = found.st_ino,
        .size = found.st_size,
        .mode = found.st_mode,
        .owner = found.st_uid,
        .group = found.st_gid,
    };
    return 0;
}

int durable_file_get_status(int descriptor, const char *path, bool follows, struct durable_file_status *status) {
#if defined(__linux__) && defined(STATX_BASIC_STATS)
    // Since Linux 6.13, the next write to a file whose times were requested records a finer time, which
    // takes some 300 ns.
    unsigned mask = STATX_TYPE | STATX_MODE | STATX_INO | STATX_SIZE | STATX_UID | STATX_GID;
    int flags = path == NULL ? AT_EMPTY_PATH : follows ? 0 : AT_SYMLINK_NOFOLLOW;
    struct statx found;
    if (statx(path == NULL ? descriptor : AT_FDCWD, path == NULL ? "" : path, flags, mask, &found) == 0) {
        *status = (struct durable_file_status){
            .device = makedev(found.stx_dev_major, found.stx_dev_minor),
            .inode = found.stx_ino,
            .size = (int64_t)found.stx_size,
            .mode = found.stx_mode,
            .owner = found.stx_uid,
            .group = found.stx_gid,
        };
        return 0;
    }
    // An old kernel lacks this call, and an old sandbox forbids calls that it doesn't know.
    if (errno != ENOSYS && errno != EPERM) return -1;
#endif
    return status_with_times(descriptor, path, follows, status);
}

int durable_file_has_other_names(const char *path) {
#if defined(__linux__) && defined(STATX_BASIC_STATS)
    struct statx found;
    if (statx(AT_FDCWD, path, 0, STATX_NLINK, &found) == 0) {
        // STATX_ATTR_MOUNT_ROOT, since Linux 5.8.
        return found.stx_nlink > 1 || (found.stx_attributes & 0x2000) != 0;
    }
    if (errno != ENOSYS && errno != EPERM) return -1;
#endif
    struct stat status;
    return stat(path, &status) == 0 ? status.st_nlink > 1 : -1;
}

#if defined(__linux__)
int durable_file_has_writers(int descriptor) {
    // A lease is broken with a signal, by default one that ends the program. This one is ignored by default.
    if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return 0;
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : errno == EACCES ? -1 : 0;
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return 0;
}

int64_t durable_file_system_type(const char *path) {
    struct statfs information;
    return statfs(path, &information) == 0 ? (int64_t)(uint32_t)information.f_type : -1;
}

bool durable_file_is_elevated(void) { return getauxval(AT_SECURE) != 0; }

const char *durable_file_trusted_variable(const char *name) { return secure_getenv(name); }

// XATTR_LIST_MAX and XATTR_SIZE_MAX of linux/limits.h.
enum { attributes_size = 64 << 10 };

struct attributes {
    char names[attributes_size], other_names[attributes_size];
    char value[attributes_size], other_value[attributes_size];
};

// A file system without attributes has an empty list of them.
static ssize_t names_of(int file, char *names) {
    ssize_t size = flistxattr(file, names, attributes_size);
    return size < 0 && errno == ENOTSUP ? 0 : size;
}

static bool has(const char *names, ssize_t size, const char *name) {
    for (ssize_t start = 0; start < size; start += strlen(names + start) + 1)
        if (strcmp(names + start, name) == 0) return true;
    return false;
}

static int copy_attributes(int from, int to, struct attributes *buffers) {
    static const char list[] = "system.posix_acl_access";
    ssize_t size = names_of(from, buffers->names);
    ssize_t other_size = size < 0 ? -1 : names_of(to, buffers->other_names);
    if (other_size < 0) return -1;
    for (ssize_t start = 0; start < size; start += strlen(buffers->names + start) + 1) {
        const char *name = buffers->names + start;
        // The kernel computes these from the content (evm(7)).
        if (strcmp(name, "security.ima") == 0 || strcmp(name, "security.evm") == 0) continue;
        ssize_t count = fgetxattr(from, name, buffers->value, attributes_size);
        if (count < 0) return -1;
        ssize_t other_count = fgetxattr(to, name, buffers->other_value, attributes_size);
        // The folder or the system might have given the file this attribute already, and refuse to set it again.
        if (other_count == count && memcmp(buffers->value, buffers->other_value, count) == 0) continue;
        if (fsetxattr(to, name, buffers->value, count, 0) != 0) return -1;
    }
    if (has(buffers->other_names, other_size, list) && !has(buffers->names, size, list)) return fremovexattr(to, list);
    return 0;
}

int durable_file_copy_attributes(int from, int to) {
    struct attributes *buffers = malloc(sizeof *buffers);
    if (!buffers) return -1;
    int result = copy_attributes(from, to, buffers);
    int error = errno;
    free(buffers);
    errno = error;
    return result;
}
#endif
