#define _GNU_SOURCE
#include "CPreferences.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <os/os_sync_wait_on_address.h>
#endif

// MARK: Threads

static __thread struct preferences_thread_state state;
struct preferences_thread_state *preferences_state(void) { return &state; }

struct executor {
    const void *identity;
    const void *implementation;
};

// A function of Swift's runtime, as `include/swift/Runtime/Concurrency.h` declares it; the identity is null off every actor.
__attribute__((swiftcall)) struct executor swift_task_getCurrentExecutor(void);

static bool is_main_thread(void) {
#if defined(__linux__)
    static __thread int answer = 0;
    if (answer == 0) answer = (pid_t)syscall(SYS_gettid) == getpid() ? 1 : -1;
    return answer > 0;
#else
    return pthread_main_np() != 0;
#endif
}

bool preferences_runs_main_actor(const void *main_executor) {
    const void *current = swift_task_getCurrentExecutor().identity;
    return current == NULL ? is_main_thread() : current == main_executor;
}

enum { MOST_CONVERSIONS = 16 };

// Deeper ones are counted only.
static __thread struct {
    int count;
    const void *identities[MOST_CONVERSIONS];
    bool isMisused[MOST_CONVERSIONS];
} conversions;

bool preferences_begin_conversion(const void *identity) {
    int count = conversions.count < MOST_CONVERSIONS ? conversions.count : MOST_CONVERSIONS;
    for (int index = 0; index < count; index++) {
        if (conversions.identities[index] != identity) continue;
        conversions.isMisused[index] = true;
        return false;
    }
    if (conversions.count < MOST_CONVERSIONS) {
        conversions.identities[conversions.count] = identity;
        conversions.isMisused[conversions.count] = false;
    }
    conversions.count++;
    return true;
}

bool preferences_end_conversion(void) {
    conversions.count--;
    return conversions.count < MOST_CONVERSIONS && conversions.isMisused[conversions.count];
}

struct start {
    void (*body)(void *);
    void *context;
};

static void *run_thread(void *context) {
    struct start start = *(struct start *)context;
    free(context);
#if defined(__linux__)
    pthread_setname_np(pthread_self(), "preferences");
#elif defined(__APPLE__)
    pthread_setname_np("preferences");
#endif
    start.body(start.context);
    return NULL;
}

int preferences_start_thread(void (*body)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) return ENOMEM;
    *start = (struct start){body, context};
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_t thread;
    int result = pthread_create(&thread, &attributes, run_thread, start);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (result != 0) free(start);
    return result;
}

// MARK: fork

uint32_t preferences_generation_word;
static void (*fork_before)(void);
static void (*fork_after)(void);

static void before_fork(void) { fork_before(); }
static void after_fork(void) { fork_after(); }
static void in_child(void) {
    preferences_generation_word++;
    fork_after();
}

void preferences_handle_forks(void (*before)(void), void (*after)(void)) {
    fork_before = before;
    fork_after = after;
    pthread_atfork(before_fork, after_fork, in_child);
}

void preferences_handle_exit(void (*body)(void)) { atexit(body); }

// MARK: Waiting

#if defined(__linux__)
void preferences_wait(const void *word, uint32_t value, int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds < 0 ? NULL : &time, NULL, 0);
    errno = saved;
}

static void wake(const void *word, int count) {
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
    errno = saved;
}

void preferences_wake(const void *word) { wake(word, 1); }
void preferences_wake_all(const void *word) { wake(word, INT_MAX); }
#elif defined(__APPLE__)
void preferences_wait(const void *word, uint32_t value, int64_t nanoseconds) {
    int saved = errno;
    if (nanoseconds < 0) {
        os_sync_wait_on_address((void *)word, value, sizeof value, OS_SYNC_WAIT_ON_ADDRESS_NONE);
    } else {
        os_sync_wait_on_address_with_timeout(
            (void *)word, value, sizeof value, OS_SYNC_WAIT_ON_ADDRESS_NONE, OS_CLOCK_MACH_ABSOLUTE_TIME, (uint64_t)nanoseconds
        );
    }
    errno = saved;
}

void preferences_wake(const void *word) {
    int saved = errno;
    os_sync_wake_by_address_any((void *)word, sizeof(uint32_t), OS_SYNC_WAKE_BY_ADDRESS_NONE);
    errno = saved;
}

void preferences_wake_all(const void *word) {
    int saved = errno;
    os_sync_wake_by_address_all((void *)word, sizeof(uint32_t), OS_SYNC_WAKE_BY_ADDRESS_NONE);
    errno = saved;
}
#endif

int64_t preferences_now(void) {
    struct timespec time;
#if defined(__linux__)
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
#else
    clock_gettime(CLOCK_MONOTONIC_RAW_APPROX, &time);
#endif
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// MARK: Hashing

// Folded multiplications as in wyhash, from an address that the system has chosen at random.
static inline uint64_t mix(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

intptr_t preferences_hash(const uint8_t *bytes, intptr_t count) {
    uint64_t hash = (uintptr_t)&preferences_generation_word ^ (uint64_t)count;
    uint64_t all = 0;
    while (count > 0) {
        uint64_t word = 0;
        memcpy(&word, bytes, count < 8 ? (size_t)count : 8);
        hash = mix(hash ^ word, 0x9E3779B97F4A7C15);
        all |= word;
        bytes += 8;
        count -= 8;
    }
    return all & 0x8080808080808080 ? -1 : (intptr_t)(hash ^ hash >> 32);
}

// MARK: The program

const char *preferences_variable(const char *name) {
#if defined(__linux__)
    return secure_getenv(name);
#else
    return issetugid() ? NULL : getenv(name);
#endif
}

#if defined(__APPLE__)
bool preferences_is_test(void) {
    return dlsym(RTLD_DEFAULT, "swt_abiv0_getEntryPoint") != NULL
        || dlsym(RTLD_DEFAULT, "OBJC_CLASS_$_XCTestCase") != NULL;
}
#else
// Also found if it is linked statically, as with the static standard library.
extern const char swt_abiv0_getEntryPoint __attribute__((weak));

bool preferences_is_test(void) {
    return &swt_abiv0_getEntryPoint != NULL
        || dlsym(RTLD_DEFAULT, "swt_abiv0_getEntryPoint") != NULL
        || dlsym(RTLD_DEFAULT, "$s6XCTest0A4CaseCMa") != NULL;
}
#endif
