// The parts of Darwin's C library that the sources use, as its open headers declare them for 64-bit systems
// (github.com/apple-oss-distributions, named before each part). Values that only need to exist are as there too.
#ifndef DARWIN_STUB_H
#define DARWIN_STUB_H

#include <stdint.h>
typedef unsigned long size_t;

// libplatform/include/os/lock.h
typedef struct os_unfair_lock_s { uint32_t _os_unfair_lock_opaque; } os_unfair_lock, *os_unfair_lock_t;
void os_unfair_lock_lock(os_unfair_lock_t lock);
_Bool os_unfair_lock_trylock(os_unfair_lock_t lock);
void os_unfair_lock_unlock(os_unfair_lock_t lock);

// xnu/bsd/sys/_types.h, sys/_types/_*.h
typedef int32_t dev_t;
typedef uint64_t ino_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef uint32_t uid_t;
typedef uint32_t gid_t;
typedef int64_t off_t;
typedef long time_t;
typedef long ssize_t;
typedef int32_t pid_t;
struct timeval { time_t tv_sec; int tv_usec; };
struct timespec { time_t tv_sec; long tv_nsec; };

// xnu/bsd/sys/errno.h
int *_Nonnull __error(void);
#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define EACCES 13
#define EBUSY 16
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define EMFILE 24
#define ENOSPC 28
#define EROFS 30
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define ENOTSUP 45
#define ELOOP 62
#define EDQUOT 69
#define ESTALE 70

// xnu/bsd/sys/stat.h (__DARWIN_STRUCT_STAT64)
struct stat {
    dev_t st_dev; mode_t st_mode; nlink_t st_nlink; ino_t st_ino; uid_t st_uid; gid_t st_gid; dev_t st_rdev;
    struct timespec st_atimespec; struct timespec st_mtimespec; struct timespec st_ctimespec; struct timespec st_birthtimespec;
    off_t st_size; int64_t st_blocks; int32_t st_blksize; uint32_t st_flags; uint32_t st_gen; int32_t st_lspare; int64_t st_qspare[2];
};
int stat(const char *, struct stat *);
int lstat(const char *, struct stat *);
int fstat(int, struct stat *);
int fchmod(int, mode_t);
int mkdir(const char *, mode_t);

// xnu/bsd/sys/fcntl.h
#define O_ACCMODE 0x0003
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x0004
#define O_APPEND 0x0008
#define O_NOFOLLOW 0x0100
#define O_CREAT 0x0200
#define O_EXCL 0x0800
#define O_NOCTTY 0x00020000
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_FULLFSYNC 51
#define F_DUPFD_CLOEXEC 67
#define AT_FDCWD -2
#define AT_EACCESS 0x0010
#define FD_CLOEXEC 1
#define LOCK_EX 0x02
#define LOCK_NB 0x04
#define LOCK_UN 0x08
int flock(int, int);

// copyfile/copyfile.h
struct _copyfile_state;
typedef struct _copyfile_state *copyfile_state_t;
typedef uint32_t copyfile_flags_t;
#define COPYFILE_ACL (1 << 0)
#define COPYFILE_XATTR (1 << 2)
int fcopyfile(int from_fd, int to_fd, copyfile_state_t, copyfile_flags_t flags);

// xnu/bsd/sys/signal.h, sys/wait.h, spawn.h
#define SIGKILL 9
#define SIGTERM 15
#define WNOHANG 1
int kill(pid_t, int);
pid_t waitpid(pid_t, int *, int);
typedef void *posix_spawnattr_t;
typedef void *posix_spawn_file_actions_t;
int posix_spawn(pid_t *_Nullable, const char *_Nonnull, const posix_spawn_file_actions_t *_Nullable, const posix_spawnattr_t *_Nullable,
                char *_Nullable const *_Nonnull, char *_Nullable const *_Nullable);

// Libc/include/unistd.h, stdio.h, stdlib.h, string.h, xnu/bsd/sys/syslimits.h
#define SEEK_CUR 1
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define X_OK (1<<0)
#define W_OK (1<<1)
#define R_OK (1<<2)
#define F_OK 0
#define PATH_MAX 1024
int close(int);
ssize_t pread(int, void *, size_t, off_t);
ssize_t read(int, void *, size_t);
ssize_t write(int, const void *, size_t);
ssize_t pwrite(int, const void *, size_t, off_t);
off_t lseek(int, off_t, int);
int ftruncate(int, off_t);
int fsync(int);
ssize_t readlink(const char *, char *, size_t);
int unlink(const char *);
int fchown(int, uid_t, gid_t);
int pipe(int [2]);
int usleep(uint32_t);
int atexit(void (*)(void));
uid_t geteuid(void);
int gethostname(char *, size_t);
int issetugid(void);
int rename(const char *, const char *);
char *getenv(const char *);
char *strerror(int);
char *strdup(const char *);
void free(void *);
void exit(int) __attribute__((noreturn));
pid_t getpid(void);
int access(const char *, int);
int faccessat(int, const char *, int, int);
int chmod(const char *, mode_t);
int chown(const char *, uid_t, gid_t);
int link(const char *, const char *);
int symlink(const char *, const char *);
int mkfifo(const char *, mode_t);
int rmdir(const char *);
int utimes(const char *, const struct timeval *);
// xnu/bsd/sys/resource.h
struct rusage { struct timeval ru_utime, ru_stime; long ru_maxrss; };
int getrusage(int, struct rusage *);
int setenv(const char *_Nonnull, const char *_Nonnull, int);
int unsetenv(const char *_Nonnull);
typedef struct __sFILE FILE;
FILE *fopen(const char *_Nonnull, const char *_Nonnull);
int fclose(FILE *_Nonnull);
int fflush(FILE *_Nullable);
int fseek(FILE *_Nonnull, long, int);
void rewind(FILE *_Nonnull);
#define SEEK_SET 0
#define SEEK_END 2
int fputs(const char *_Nonnull, FILE *_Nonnull);
void *memchr(const void *, int, size_t);
int memcmp(const void *, const void *, size_t);
size_t strlen(const char *);

// Libc/include/dirent.h (__DARWIN_STRUCT_DIRENTRY, 64-bit inodes)
typedef struct _dirdesc DIR;
struct dirent { ino_t d_ino; uint64_t d_seekoff; uint16_t d_reclen; uint16_t d_namlen; uint8_t d_type; char d_name[1024]; };
DIR *opendir(const char *);
DIR *fdopendir(int);
int closedir(DIR *);
struct dirent *readdir(DIR *);

// xnu/bsd/sys/poll.h
#define POLLIN 0x0001
#define POLLNVAL 0x0020
typedef unsigned int nfds_t;
struct pollfd { int fd; short events; short revents; };
int poll(struct pollfd *, nfds_t, int);

// Libc/include/time.h
typedef enum { _CLOCK_REALTIME = 0, _CLOCK_MONOTONIC = 6, _CLOCK_THREAD_CPUTIME_ID = 16 } clockid_t;
int clock_gettime(clockid_t, struct timespec *);
int sched_yield(void);
int nanosleep(const struct timespec *, struct timespec *);

// Libinfo/lookup.subproj/pwd.h
struct passwd {
    char *pw_name; char *pw_passwd; uid_t pw_uid; gid_t pw_gid; time_t pw_change; char *pw_class; char *pw_gecos; char *pw_dir;
    char *pw_shell; time_t pw_expire;
};
int getpwuid_r(uid_t, struct passwd *, char *, size_t, struct passwd **);

// libpthread/include/pthread/pthread.h, sys/_pthread/_pthread_types.h
typedef struct _opaque_pthread_mutex_t { long __sig; char __opaque[56]; } pthread_mutex_t;
typedef struct _opaque_pthread_mutexattr_t { long __sig; char __opaque[8]; } pthread_mutexattr_t;
typedef struct _opaque_pthread_cond_t { long __sig; char __opaque[40]; } pthread_cond_t;
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *_Nullable);
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_trylock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_mutex_destroy(pthread_mutex_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int pthread_cond_broadcast(pthread_cond_t *);
int pthread_cond_destroy(pthread_cond_t *);

#endif
