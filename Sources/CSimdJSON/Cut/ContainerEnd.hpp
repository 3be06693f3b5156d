#ifndef CSJ_CONTAINER_END_HPP
#define CSJ_CONTAINER_END_HPP

#include <cstddef>
#include <cstdint>

namespace csj {

/// Where in an array or object a chunk has ended.
struct Nesting {
    /// Brackets that are open, its own included; 0 before its own.
    uint64_t depth = 0;
    bool in_string = false;
    /// The next byte is escaped.
    bool is_escaped = false;
};

/// Goes over the text of one array or object, which starts with its bracket or, after an earlier call, where that stopped. Returns the place behind
/// the bracket that closes it; or NULL: it goes on after `end`.
///
/// Brackets are counted and not told apart, and a backslash makes the next quote no quote, also outside of strings, where it is an error.
using FindEnd = const uint8_t *(*)(const uint8_t *at, const uint8_t *end, Nesting &nesting);

const uint8_t *find_end_plain(const uint8_t *at, const uint8_t *end, Nesting &nesting);

#if defined(__x86_64__)
#define CSJ_HAS_X86 1
const uint8_t *find_end_sse2(const uint8_t *at, const uint8_t *end, Nesting &nesting);
const uint8_t *find_end_avx2(const uint8_t *at, const uint8_t *end, Nesting &nesting);
#endif

/// The one for one of CSJ_CUT_…; NULL: not on this processor.
FindEnd choose_find_end(int instructions);

}  // namespace csj

#endif
