#include "ContainerEnd.hpp"

#include <simdjson.h>

#include "CSimdJSON.h"

namespace csj {

const uint8_t *find_end_plain(const uint8_t *at, const uint8_t *end, Nesting &nesting) {
    Nesting now = nesting;
    for (; at < end; ++at) {
        const uint8_t byte = *at;
        const bool is_escaped = now.is_escaped;
        now.is_escaped = byte == '\\' && !is_escaped;
        if (byte == '"') {
            now.in_string ^= !is_escaped;
        } else if (!now.in_string) {
            // One bit apart are brackets and braces.
            const uint8_t bracket = byte | 0x20;
            if (bracket == '{') {
                ++now.depth;
            } else if (bracket == '}' && --now.depth == 0) {
                nesting = Nesting();
                return at + 1;
            }
        }
    }
    nesting = now;
    return nullptr;
}

#ifdef CSJ_HAS_X86
/// libsimdjson knows what the processor and the operating system can do. Asked once: in a virtual machine the answer takes microseconds.
static bool has_avx2() {
    static const bool has = [] {
        const simdjson::implementation *haswell = simdjson::get_available_implementations()["haswell"];
        return haswell && haswell->supported_by_runtime_system();
    }();
    return has;
}
#endif

FindEnd choose_find_end(int instructions) {
    switch (instructions) {
        case CSJ_CUT_PLAIN: return find_end_plain;
#ifdef CSJ_HAS_X86
        case CSJ_CUT_SSE2: return find_end_sse2;
        case CSJ_CUT_AVX2: return has_avx2() ? find_end_avx2 : nullptr;
        case CSJ_CUT_BEST: return has_avx2() ? find_end_avx2 : find_end_sse2;
#else
        case CSJ_CUT_BEST: return find_end_plain;
#endif
        default: return nullptr;
    }
}

}  // namespace csj
