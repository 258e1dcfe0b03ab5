#ifndef C_PREFERENCES_H
#define C_PREFERENCES_H

#include <stdbool.h>
#include <stdint.h>

/// The state of the calling thread; zero at first.
struct preferences_thread_state {
    /// How many changes led to the work of the thread, each made by an observer of the one before.
    int64_t depth;
    /// How many turns it has.
    int64_t turns;
    /// The effects to run when it has none.
    void *_Nullable deferred;
    /// The issue handlers that run on it.
    void *_Nullable running;
};
struct preferences_thread_state *_Nonnull preferences_state(void);

/// Returns an address that differs between any two threads that run at the same time.
static inline uintptr_t preferences_thread(void) {
#if defined(__APPLE__)
    // The compiler's thread pointer isn't that of Darwin, whose kernel keeps a processor's number in the register.
    return (uintptr_t)preferences_state();
#elif defined(__x86_64__)
    uintptr_t self;
    __asm__("mov %%fs:0, %0" : "=r"(self));
    return self;
#else
    return (uintptr_t)__builtin_thread_pointer();
#endif
}

/// Whether the caller runs on the main actor's executor, or on the main thread without an executor.
///
/// On Linux the main actor of an asynchronous program runs on other threads than the first.
bool preferences_runs_main_actor(const void *_Nonnull main_executor);

/// Records that the calling thread begins to check or convert a value; returns false, and records the misuse, if it does so already for
/// the same preference.
bool preferences_begin_conversion(const void *_Nonnull identity);

/// Ends the newest conversion; returns whether it was begun again meanwhile.
bool preferences_end_conversion(void);

/// How many calls of `fork` lie between this process and the one that loaded the library.
extern uint32_t preferences_generation_word;
static inline uint32_t preferences_generation(void) { return preferences_generation_word; }

/// Has each later `fork` call `before` in the parent, and `after` in both processes (pthread_atfork(3)).
void preferences_handle_forks(void (*_Nonnull before)(void), void (*_Nonnull after)(void));

/// Has a normal exit of the process call `body` (atexit(3)).
void preferences_handle_exit(void (*_Nonnull body)(void));

/// Runs `body(context)` on a new detached thread that handles none of the program's signals; returns 0 or an errno.
int preferences_start_thread(void (*_Nonnull body)(void *_Nullable), void *_Nullable context);

/// Sleeps while the word has the value, at most so many nanoseconds, for ever if negative; might return earlier (futex(2)).
void preferences_wait(const void *_Nonnull word, uint32_t value, int64_t nanoseconds);

/// Wakes one thread that sleeps at the word, or all.
void preferences_wake(const void *_Nonnull word);
void preferences_wake_all(const void *_Nonnull word);

/// Returns a monotonic time in nanoseconds, which may lag a few milliseconds; a precise one takes ten times as long.
int64_t preferences_now(void);

/// Lets the processor save power, and the other thread of its core run, in a loop that waits for another thread.
static inline void preferences_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

/// What tells whether a file changed; the times of its content and of its other properties in nanoseconds.
struct preferences_status {
    uint64_t device, inode, links;
    int64_t size, modified, changed;
    uint32_t mode, owner, group;
};

/// Gets the status of the file at a path, or of an open one if `path` is null; returns 0, or -1 and errno.
int preferences_get_status(
    int descriptor, const char *_Nullable path, bool follows_links, struct preferences_status *_Nonnull status
);

/// Whether a file has several names, or is mounted by itself, so that no other file can take its place; -1 and errno if unknown.
int preferences_has_other_names(const char *_Nonnull path);

/// Whether other machines might write to the file system of a path, whose changes the kernel doesn't report; -1 and errno if unknown.
int preferences_is_remote(const char *_Nonnull path);

/// Whether the program has more rights than the user who has started it might have: root's, or those of set-user-ID.
bool preferences_is_privileged(void);

/// The size that a file of this process may have (RLIMIT_FSIZE): a write beyond it would end the process by a signal.
int64_t preferences_size_limit(void);

/// Syncs the content of a file to the medium; returns 0, or -1 and errno.
int preferences_sync_content(int descriptor);

/// Copies access lists and extended attributes to a new file; returns 0, or -1 and errno.
int preferences_copy_attributes(int from, int to);

/// Exchanges the files at two paths in one step (RENAME_EXCHANGE, renameat2(2)); returns 0, or -1 and errno.
int preferences_exchange(const char *_Nonnull path, const char *_Nonnull other);

/// Returns a hash that some words of eight bytes extend.
uint64_t preferences_hash_words(uint64_t hash, const uint8_t *_Nonnull bytes, intptr_t count);

/// Returns an environment variable; null if it isn't set, or if the program runs with more rights than its caller (secure_getenv(3)).
const char *_Nullable preferences_variable(const char *_Nonnull name);

/// Whether Swift Testing or XCTest is loaded.
bool preferences_is_test(void);

/// Returns a hash of some bytes that differs between processes; -1 if they aren't ASCII.
intptr_t preferences_hash(const uint8_t *_Nullable bytes, intptr_t count);

#endif
