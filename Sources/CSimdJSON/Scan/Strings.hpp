#ifndef CSJ_STRINGS_HPP
#define CSJ_STRINGS_HPP

#include <cstddef>
#include <cstdint>

namespace csj {

/// What decoding the text between two quotes came to.
struct Decoded {
    /// Where the malformed escape is, or NULL.
    const uint8_t *malformed = nullptr;
    size_t length = 0;
    /// The first lone half of a surrogate pair and the first U+0000, or NULL.
    const uint8_t *lone_surrogate = nullptr;
    const uint8_t *nul = nullptr;
};

/// Decodes the escapes of `[at, end)`, the text between the quotes. A lone half of a surrogate pair becomes U+FFFD.
/// `target` needs room for `end - at` bytes (decoding never makes a text longer), or is NULL to check and measure only.
Decoded decode_string(const uint8_t *at, const uint8_t *end, uint8_t *target, bool strips_nul);

}  // namespace csj

#endif
