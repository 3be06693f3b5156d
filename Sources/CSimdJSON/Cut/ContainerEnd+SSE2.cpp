#include "Block.hpp"

#ifdef CSJ_HAS_X86
#include <emmintrin.h>

namespace csj {

static inline uint64_t equal(const __m128i (&parts)[4], char byte) {
    const __m128i bytes = _mm_set1_epi8(byte);
    uint64_t mask = 0;
    for (int part = 0; part < 4; ++part) { mask |= uint64_t(uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(parts[part], bytes)))) << (16 * part); }
    return mask;
}

static inline Block read_block(const uint8_t *at) {
    __m128i parts[4], brackets[4];
    for (int part = 0; part < 4; ++part) {
        parts[part] = _mm_loadu_si128(reinterpret_cast<const __m128i *>(at + 16 * part));
        // One bit apart are brackets and braces.
        brackets[part] = _mm_or_si128(parts[part], _mm_set1_epi8(0x20));
    }
    return {equal(parts, '\\'), equal(parts, '"'), equal(brackets, '{'), equal(brackets, '}')};
}

const uint8_t *find_end_sse2(const uint8_t *at, const uint8_t *end, Nesting &nesting) {
    BlockNesting state(nesting);
    for (; end - at >= BlockNesting::size; at += BlockNesting::size) {
        const Block block = read_block(at);
        uint64_t parity = state.true_quotes(block);
        for (int distance = 1; distance < BlockNesting::size; distance *= 2) { parity ^= parity << distance; }
        if (const int length = state.find_end(block, parity)) {
            nesting = Nesting();
            return at + length;
        }
    }
    nesting = state.nesting();
    return find_end_plain(at, end, nesting);
}

}  // namespace csj

#endif
