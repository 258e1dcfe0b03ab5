#ifndef C_THREAD_IDENTITY_H
#define C_THREAD_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/// Whether the caller runs on the process's first thread; asks the kernel once per thread.
bool c_thread_is_main(void);

/// Whether the caller runs on the main actor's executor, or on the main thread without an executor.
bool c_thread_runs_main_actor(const void *_Nonnull main_executor);

/// Whether Swift Testing or XCTest is loaded.
bool c_process_runs_tests(void);

/// Returns an address that differs between any two threads that run at the same time.
const void *_Nonnull c_thread_identity(void);

/// A number that each thread has for itself, at first 0; see `FeedbackDepth`.
int64_t *_Nonnull c_thread_answer_depth(void);

/// An address that each thread has for itself, at first null; see `RunningBody`.
void *_Nullable *_Nonnull c_thread_running_body(void);

/// Records that the calling thread begins to check or convert a value; returns false, and records the misuse, if it does so already for
/// the same preference.
bool c_thread_begin_conversion(const void *_Nonnull identity);

/// Ends the newest conversion; returns whether it was begun again meanwhile.
bool c_thread_end_conversion(void);

#endif
