#define _GNU_SOURCE
#include "CThreadIdentity.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>

bool c_thread_is_main(void) {
    static __thread int answer = 0;
    if (answer == 0) answer = (pid_t)syscall(SYS_gettid) == getpid() ? 1 : -1;
    return answer > 0;
}
#else
bool c_thread_is_main(void) {
    return pthread_main_np() != 0;
}
#endif

struct executor {
    const void *identity;
    const void *implementation;
};

// A function of Swift's runtime, as `include/swift/Runtime/Concurrency.h` declares it; the identity is null off every
// actor.
__attribute__((swiftcall)) struct executor swift_task_getCurrentExecutor(void);

bool c_thread_runs_main_actor(const void *main_executor) {
    const void *current = swift_task_getCurrentExecutor().identity;
    return current == NULL ? c_thread_is_main() : current == main_executor;
}

#if defined(__APPLE__)
bool c_process_runs_tests(void) {
    return dlsym(RTLD_DEFAULT, "swt_abiv0_getEntryPoint") != NULL
        || dlsym(RTLD_DEFAULT, "OBJC_CLASS_$_XCTestCase") != NULL;
}
#else
// Also found if it is linked statically, as with the static standard library.
extern const char swt_abiv0_getEntryPoint __attribute__((weak));

bool c_process_runs_tests(void) {
    return &swt_abiv0_getEntryPoint != NULL
        || dlsym(RTLD_DEFAULT, "swt_abiv0_getEntryPoint") != NULL
        || dlsym(RTLD_DEFAULT, "$s6XCTest0A4CaseCMa") != NULL;
}
#endif

const void *c_thread_identity(void) {
    static __thread char place;
    return &place;
}

int64_t *c_thread_answer_depth(void) {
    static __thread int64_t depth = 0;
    return &depth;
}

void **c_thread_running_body(void) {
    static __thread void *body = NULL;
    return &body;
}

enum { MOST_CONVERSIONS = 16 };

// Deeper ones are counted only.
static __thread struct {
    int count;
    const void *identities[MOST_CONVERSIONS];
    bool isMisused[MOST_CONVERSIONS];
} conversions;

bool c_thread_begin_conversion(const void *identity) {
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

bool c_thread_end_conversion(void) {
    conversions.count--;
    return conversions.count < MOST_CONVERSIONS && conversions.isMisused[conversions.count];
}
