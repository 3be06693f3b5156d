#ifndef CSJ_KEY_HPP
#define CSJ_KEY_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace csj {

/// Drawn once per process, so that nobody outside can prepare keys which collide.
extern const uint64_t key_seed[2];

/// A key in the form in which keys are compared: nearly all keys of real documents have at most 16 bytes, and those are their first and
/// last eight bytes and the length.
struct Key {
    uint64_t first, last;
    uint64_t hash;
    const uint8_t *text;
    uint32_t length;

    static constexpr uint32_t short_length = 16;

    Key(const uint8_t *text, size_t size) : text(text), length(uint32_t(size)) {
        if (size > short_length) {
            read_long();
            return;
        }
        if (size >= 8) {
            first = load64(text);
            last = load64(text + size - 8);
        } else if (size >= 4) {
            first = load32(text);
            last = load32(text + size - 4);
        } else if (size > 0) {
            first = uint64_t(text[0]) << 16 | uint64_t(text[size >> 1]) << 8 | text[size - 1];
            last = 0;
        } else {
            first = last = 0;
        }
        hash = fold(first ^ key_seed[0], last ^ key_seed[1] ^ (uint64_t(size) << 56));
    }

  private:
    /// Here the two halves are a hash, so that equal halves are only a reason to compare the text.
    void read_long();

    static uint64_t fold(uint64_t a, uint64_t b) {
        unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
        return uint64_t(product) ^ uint64_t(product >> 64);
    }

    static uint64_t load64(const uint8_t *at) {
        uint64_t value;
        memcpy(&value, at, 8);
        return value;
    }

    static uint64_t load32(const uint8_t *at) {
        uint32_t value;
        memcpy(&value, at, 4);
        return value;
    }
};

}  // namespace csj

#endif
