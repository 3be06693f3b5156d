#include "../Scan/Strings.hpp"
#include "Walker.hpp"

namespace csj {

bool Walker::decode_key(const uint8_t *&key, size_t &length) {
    key_text.clear();
    uint8_t *target = key_text.extend(length + 1);
    Decoded decoded = decode_string(key, key + length, target, false);
    if (decoded.malformed) { return fail(CSJ_FAILURE_BAD_ESCAPE, size_t(decoded.malformed - body)); }
    if (decoded.lone_surrogate && request.lone_surrogates == CSJ_SURROGATES_REJECT) {
        note(CSJ_PROBLEM_LONE_SURROGATE, size_t(decoded.lone_surrogate - body));
    }
    key = target;
    length = decoded.length;
    return true;
}

/// Checked and measured before anything is copied: what nobody wants is not copied at all, and what is too long is not either.
bool Walker::check_escapes(uint32_t offset, uint32_t end, csj_cell &value) {
    Decoded decoded = decode_string(body + offset + 1, body + end - 1, nullptr, request.nul_in_text == CSJ_NUL_STRIP);
    if (decoded.malformed) { return fail(CSJ_FAILURE_BAD_ESCAPE, size_t(decoded.malformed - body)); }
    if (decoded.lone_surrogate && request.lone_surrogates == CSJ_SURROGATES_REJECT) {
        note(CSJ_PROBLEM_LONE_SURROGATE, size_t(decoded.lone_surrogate - body));
    }
    if (decoded.nul && request.nul_in_text == CSJ_NUL_REJECT) { note(CSJ_PROBLEM_NUL, size_t(decoded.nul - body)); }
    value.count = uint32_t(decoded.length);
    return true;
}

}  // namespace csj
