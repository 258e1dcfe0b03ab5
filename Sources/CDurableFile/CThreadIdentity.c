#define _GNU_SOURCE
#include "CThreadIdentity.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#if defined(__linux__)
#include <link.h>
#include <stddef.h>
#include <string.h>
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

#if defined(__linux__)
// On Linux, `swift_once` has a lock whose word is the kernel's identifier of the thread that has it, which Swift's runtime keeps in a
// thread-local variable (`lib/Threading` of Swift 6.3: `ulock_get_tid`). In a child of `fork` that is the identifier of the parent's
// thread, and the kernel doesn't unlock for another one: if a thread of the library waits for the same `once` meanwhile, both spin for
// ever. So the child's is put in its place.
enum { MOST_BLOCKS = 16 };

// The thread-local variables of the forking thread in the libraries of Swift's runtime.
static struct {
    uint32_t thread;
    int count;
    struct {
        uint32_t *words;
        size_t count;
    } blocks[MOST_BLOCKS];
} forking;

// A function of Swift's runtime, as `include/swift/Runtime/HeapObject.h` declares it.
bool swift_isDeallocating(void *object);

static int note_block(struct dl_phdr_info *info, size_t size, void *context) {
    (void)context;
    if (size < offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(info->dlpi_tls_data)) return 1;
    if (info->dlpi_tls_data == NULL || forking.count == MOST_BLOCKS) return 0;
    // With the static standard library, the runtime is a part of the program.
    bool is_runtime = strstr(info->dlpi_name, "/libswift") != NULL;
    size_t words = 0;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        if (part->p_type == PT_TLS) words = part->p_memsz / sizeof(uint32_t);
        uintptr_t offset = (uintptr_t)swift_isDeallocating - info->dlpi_addr - part->p_vaddr;
        if (part->p_type == PT_LOAD && offset < part->p_memsz) is_runtime = true;
    }
    if (!is_runtime) return 0;
    forking.blocks[forking.count].words = info->dlpi_tls_data;
    forking.blocks[forking.count].count = words;
    forking.count++;
    return 0;
}

// Before, as the loader's lock might be held in the child.
void c_thread_fork_begins(void) {
    forking.thread = (uint32_t)syscall(SYS_gettid);
    forking.count = 0;
    dl_iterate_phdr(note_block, NULL);
}

void c_thread_fork_in_child(void) {
    uint32_t thread = (uint32_t)syscall(SYS_gettid);
    for (int block = 0; block < forking.count; block++) {
        for (size_t index = 0; index < forking.blocks[block].count; index++) {
            uint32_t *word = &forking.blocks[block].words[index];
            if (*word == forking.thread) *word = thread;
        }
    }
}
#else
void c_thread_fork_begins(void) {}
void c_thread_fork_in_child(void) {}
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
