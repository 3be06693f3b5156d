#include "Key.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <random>

#include "CSimdJSON.h"

namespace csj {

static uint64_t draw() {
    std::random_device source;
    return uint64_t(source()) << 32 | source();
}

const uint64_t key_seed[2] = {draw(), draw()};

void Key::read_long() {
    XXH128_hash_t both = XXH3_128bits_withSeed(text, length, key_seed[0]);
    first = both.high64;
    last = hash = both.low64;
}

}  // namespace csj

extern "C" csj_hash128 csj_hash(const void *bytes, size_t length) {
    XXH128_hash_t hash = XXH3_128bits(bytes, length);
    return {hash.high64, hash.low64};
}
