#define _GNU_SOURCE
#include "CBenchmarks.h"

#include <fcntl.h>
#include <sys/stat.h>

int benchmarks_statx(const char *path) {
    struct statx status;
    return statx(AT_FDCWD, path, 0, STATX_TYPE | STATX_INO | STATX_SIZE, &status);
}
