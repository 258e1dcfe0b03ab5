#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "CDurableFile.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif

static _Atomic uint64_t forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void) { atomic_fetch_add_explicit(&forks, 1, memory_order_relaxed); }
static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

uint64_t durable_file_fork_count(void) {
    pthread_once(&once, watch_forks);
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

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
int64_t durable_file_system_type(const char *path) {
    struct statfs information;
    return statfs(path, &information) == 0 ? (int64_t)(uint32_t)information.f_type : -1;
}
#endif
