#define XXH_INLINE_ALL
#include <xxhash.h>

#include <random>

#include "CSimdJSON.h"
#include "KeyHash.hpp"

namespace csj {

static uint64_t draw() {
    std::random_device source;
    return uint64_t(source()) << 32 | source();
}

const uint64_t key_seed[2] = {draw(), draw()};

uint64_t hash_long_key(const uint8_t *key, size_t length) { return XXH3_64bits_withSeed(key, length, key_seed[0]); }

}  // namespace csj

extern "C" csj_hash128 csj_hash(const void *bytes, size_t length) {
    XXH128_hash_t hash = XXH3_128bits(bytes, length);
    return {hash.high64, hash.low64};
}
