#define _GNU_SOURCE
#include "CPreferences.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#elif defined(__APPLE__)
#include <copyfile.h>
#endif

static int64_t nanoseconds(struct timespec time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

int preferences_get_status(int descriptor, const char *path, bool follows_links, struct preferences_status *status) {
    struct stat result;
    int code = path == NULL ? fstat(descriptor, &result) : follows_links ? stat(path, &result) : lstat(path, &result);
    if (code != 0) return code;
#if defined(__APPLE__)
    struct timespec modified = result.st_mtimespec, changed = result.st_ctimespec;
#else
    struct timespec modified = result.st_mtim, changed = result.st_ctim;
#endif
    *status = (struct preferences_status){
        .device = (uint64_t)result.st_dev,
        .inode = result.st_ino,
        .links = result.st_nlink,
        .size = result.st_size,
        .modified = nanoseconds(modified),
        .changed = nanoseconds(changed),
        .mode = result.st_mode,
        .owner = result.st_uid,
        .group = result.st_gid,
    };
    return 0;
}

int64_t preferences_size_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > INT64_MAX) return INT64_MAX;
    return (int64_t)limit.rlim_cur;
}

uint64_t preferences_hash_words(uint64_t hash, const uint8_t *bytes, intptr_t count) {
    // Each step is reversible, so two sequences that differ in one word stay different.
    for (intptr_t index = 0; index + 8 <= count; index += 8) {
        uint64_t word;
        memcpy(&word, bytes + index, 8);
        hash = (hash ^ word) * 0x9E3779B97F4A7C15;
        hash ^= hash >> 32;
    }
    return hash;
}

#if defined(__linux__)
int preferences_has_other_names(const char *path) {
#if defined(STATX_BASIC_STATS)
    struct statx found;
    // STATX_ATTR_MOUNT_ROOT, since Linux 5.8.
    if (statx(AT_FDCWD, path, 0, STATX_NLINK, &found) == 0) return found.stx_nlink > 1 || (found.stx_attributes & 0x2000) != 0;
    // An old kernel lacks this call, and an old sandbox forbids calls that it doesn't know.
    if (errno != ENOSYS && errno != EPERM) return -1;
#endif
    struct stat status;
    return stat(path, &status) == 0 ? status.st_nlink > 1 : -1;
}

int preferences_is_remote(const char *path) {
    // statfs(2), linux/magic.h: NFS, SMB, SMB2, CIFS, CODA, NCP, AFS (two), Ceph, 9P, FUSE (sshfs and the like).
    static const uint32_t types[] = {
        0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x73757245, 0x564c, 0x5346414f, 0x6b414653, 0x00c36400, 0x01021997, 0x65735546,
    };
    struct statfs information;
    if (statfs(path, &information) != 0) return -1;
    for (size_t index = 0; index < sizeof types / sizeof *types; index++)
        if ((uint32_t)information.f_type == types[index]) return 1;
    return 0;
}

bool preferences_is_privileged(void) { return geteuid() == 0 || getauxval(AT_SECURE) != 0; }

int preferences_sync_content(int descriptor) { return fdatasync(descriptor); }

int preferences_exchange(const char *path, const char *other) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 2 /* RENAME_EXCHANGE */);
}

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

int preferences_copy_attributes(int from, int to) {
    struct attributes *buffers = malloc(sizeof *buffers);
    if (buffers == NULL) return -1;
    int result = copy_attributes(from, to, buffers);
    int error = errno;
    free(buffers);
    errno = error;
    return result;
}
#elif defined(__APPLE__)
int preferences_has_other_names(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? status.st_nlink > 1 : -1;
}

// Not statfs(2): Apple requires a reason for its use, and this isn't one that it accepts.
int preferences_is_remote(const char *path) {
    (void)path;
    return 0;
}

bool preferences_is_privileged(void) { return geteuid() == 0 || issetugid() != 0; }

// fsync(2) leaves the data in the drive's cache; only this reaches the medium.
int preferences_sync_content(int descriptor) { return fcntl(descriptor, F_FULLFSYNC); }

int preferences_exchange(const char *path, const char *other) { return renamex_np(path, other, RENAME_SWAP); }

// The access control list of `from` replaces that of `to`, even if it is empty (copyfile(3)).
int preferences_copy_attributes(int from, int to) { return fcopyfile(from, to, NULL, COPYFILE_ACL | COPYFILE_XATTR); }
#endif
