#ifndef CSJ_KEY_HASH_HPP
#define CSJ_KEY_HASH_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace csj {

/// Drawn once per process, so that nobody outside can prepare keys which collide.
extern const uint64_t key_seed[2];

inline uint64_t multiply_fold(uint64_t a, uint64_t b) {
    unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return uint64_t(product) ^ uint64_t(product >> 64);
}

inline uint64_t load64(const uint8_t *at) {
    uint64_t value;
    memcpy(&value, at, 8);
    return value;
}

inline uint64_t load32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
}

uint64_t hash_long_key(const uint8_t *key, size_t length);

/// A seeded hash of a key. Nearly all keys of real documents have at most 16 bytes: those cost two loads and a multiplication.
inline uint64_t hash_key(const uint8_t *key, size_t length) {
    uint64_t first, last;
    if (length > 16) { return hash_long_key(key, length); }
    if (length >= 8) {
        first = load64(key);
        last = load64(key + length - 8);
    } else if (length >= 4) {
        first = load32(key);
        last = load32(key + length - 4);
    } else if (length > 0) {
        first = uint64_t(key[0]) << 16 | uint64_t(key[length >> 1]) << 8 | key[length - 1];
        last = 0;
    } else {
        first = last = 0;
    }
    return multiply_fold(first ^ key_seed[0], last ^ key_seed[1] ^ (uint64_t(length) << 56));
}

}  // namespace csj

#endif
