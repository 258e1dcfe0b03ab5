// C declarations that Swift lacks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Asks statx(2) for the type, the inode and the size of the file at a path; returns 0, or -1 and sets `errno`.
int benchmarks_statx(const char *path);

/// The argument that MMKV's C interface takes by value, in the layout of its `MMKVConfig_t`.
struct mmkv_configuration {
    int32_t mode;
    const char *crypt_key;
    bool has_long_key;
    const char *root;
    uint64_t capacity;
    int32_t expires;
    uint32_t lifetime;
    bool compares;
    int32_t recovery;
    uint32_t item_limit;
};
