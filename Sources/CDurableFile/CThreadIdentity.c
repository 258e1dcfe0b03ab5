#define _GNU_SOURCE
#include "CThreadIdentity.h"

#include <pthread.h>
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

const void *c_thread_identity(void) {
    static __thread char place;
    return &place;
}

int64_t *c_thread_answer_depth(void) {
    static __thread int64_t depth = 0;
    return &depth;
}
