#define XXH_INLINE_ALL
#include <xxhash.h>

/// XXH3, 64 bits.
static inline uint64_t xxh3_64(const void *bytes, size_t length, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, length, seed);
}
