#include "Block.hpp"

#ifdef CSJ_HAS_X86
#include <immintrin.h>

#define CSJ_AVX2 __attribute__((target("avx2,pclmul,popcnt,bmi")))

namespace csj {

CSJ_AVX2 static inline uint64_t equal(__m256i low, __m256i high, char byte) {
    const __m256i bytes = _mm256_set1_epi8(byte);
    const uint64_t first = uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, bytes)));
    return first | uint64_t(uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, bytes)))) << 32;
}

CSJ_AVX2 static inline Block read_block(const uint8_t *at) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(at));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(at + 32));
    // One bit apart are brackets and braces.
    const __m256i bit = _mm256_set1_epi8(0x20);
    const __m256i low_brackets = _mm256_or_si256(low, bit), high_brackets = _mm256_or_si256(high, bit);
    return {equal(low, high, '\\'), equal(low, high, '"'), equal(low_brackets, high_brackets, '{'), equal(low_brackets, high_brackets, '}')};
}

CSJ_AVX2 const uint8_t *find_end_avx2(const uint8_t *at, const uint8_t *end, Nesting &nesting) {
    BlockNesting state(nesting);
    for (; end - at >= BlockNesting::size; at += BlockNesting::size) {
        const Block block = read_block(at);
        // Without carries, multiplying by all ones adds up all lower bits.
        const __m128i quotes = _mm_set_epi64x(0, int64_t(state.true_quotes(block)));
        const uint64_t parity = uint64_t(_mm_cvtsi128_si64(_mm_clmulepi64_si128(quotes, _mm_set1_epi8(-1), 0)));
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
