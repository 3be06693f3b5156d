#include "StructuralIndex.hpp"

#include <simdjson.h>
#include <string.h>

#include "CSimdJSON.h"

namespace csj {

struct StructuralIndex::Engine {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
};

StructuralIndex::StructuralIndex() : engine(new Engine) {}
StructuralIndex::~StructuralIndex() = default;

void StructuralIndex::trim() {
    engine->parser.reset();
    begin(nullptr, 0, usual_window);
}

void StructuralIndex::begin(const uint8_t *new_body, size_t new_length, size_t window) {
    window_size = window;
    body = new_body;
    length = new_length;
    base = end = 0;
    positions = nullptr;
    count = 0;
    error = CSJ_FAILURE_NONE;
    error_offset = 0;
}

/// Only called when the SIMD pass has found that something is wrong with a string: where is it?
static int locate_string_error(const uint8_t *body, size_t length, size_t &offset) {
    bool inside = false;
    size_t opening = 0;
    for (size_t at = 0; at < length; ++at) {
        if (!inside) {
            if (body[at] == '"') {
                inside = true;
                opening = at;
            }
        } else if (body[at] == '\\' && at + 1 < length && body[at + 1] >= 0x20) {
            // A control character is not made better by a backslash before it, hence the comparison.
            ++at;
        } else if (body[at] == '"') {
            inside = false;
        } else if (body[at] < 0x20) {
            offset = at;
            return CSJ_FAILURE_CONTROL_CHARACTER;
        }
    }
    offset = inside ? opening : length;
    return inside ? CSJ_FAILURE_UNCLOSED_STRING : CSJ_FAILURE_UNEXPECTED_END;
}

/// The first byte which is not part of well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF); `length` if there is
/// none.
static size_t locate_utf8_error(const uint8_t *body, size_t length) {
    size_t at = 0;
    while (at < length) {
        uint8_t lead = body[at];
        if (lead < 0x80) {
            ++at;
            continue;
        }
        size_t following;
        // The second byte's range depends on the first: this keeps out overlong forms, surrogates and what lies above U+10FFFF.
        uint8_t low = 0x80, high = 0xBF;
        if (lead >= 0xC2 && lead <= 0xDF) {
            following = 1;
        } else if (lead >= 0xE0 && lead <= 0xEF) {
            following = 2;
            if (lead == 0xE0) { low = 0xA0; }
            if (lead == 0xED) { high = 0x9F; }
        } else if (lead >= 0xF0 && lead <= 0xF4) {
            following = 3;
            if (lead == 0xF0) { low = 0x90; }
            if (lead == 0xF4) { high = 0x8F; }
        } else {
            return at;
        }
        if (length - at <= following || body[at + 1] < low || body[at + 1] > high) { return at; }
        for (size_t next = 2; next <= following; ++next) {
            if ((body[at + next] & 0xC0) != 0x80) { return at; }
        }
        at += following + 1;
    }
    return length;
}

/// The simdjson error code of the first stage over the window that starts at `base`.
int StructuralIndex::scan(size_t window) {
    using namespace simdjson;
    std::unique_ptr<internal::dom_parser_implementation> &parser = engine->parser;
    if (!parser || parser->capacity() < window) {
        size_t capacity = window < usual_window ? usual_window : window;
        // The nesting depth belongs to libsimdjson's own second stage, which is not used.
        error_code failure = parser ? parser->set_capacity(capacity)
                                    : get_active_implementation()->create_dom_parser_implementation(capacity, 1, parser);
        if (failure) {
            parser.reset();
            return failure;
        }
    }
    return parser->stage1(body + base, window, stage1_mode::regular);
}

/// Where to end a window of about this size, so that no token is cut in two: best behind a quote, since a quote can only be at the end or
/// at the beginning of a string (then `is_quote`). 0: there is no such place, the window has to be larger.
size_t StructuralIndex::choose_end(size_t window, bool &is_quote) const {
    const uint8_t *start = body + base;
    size_t any_quote = 0;
    for (size_t rest = window; const void *found = memrchr(start, '"', rest);) {
        size_t at = size_t(static_cast<const uint8_t *>(found) - start);
        rest = at;
        // Behind a backslash it may be part of the text. (That the byte before the window is a backslash cannot be: a token ended there.)
        if (at == 0 || start[at - 1] == '\\') { continue; }
        if (!any_quote) { any_quote = at + 1; }
        uint8_t follower = start[at + 1];
        // Probably a closing one. When it is not, that is found out, at the cost of a second try.
        if (follower == ',' || follower == ':' || follower == '}' || follower == ']') {
            is_quote = true;
            return at + 1;
        }
        if (at < window / 2) { break; }
    }
    if (!any_quote && start[0] == '"') { any_quote = 1; }
    if (any_quote) {
        is_quote = true;
        return any_quote;
    }
    // There is no string in here at all.
    is_quote = false;
    for (size_t at = window; at > 0; --at) {
        switch (start[at - 1]) {
            case ',': case ':': case '[': case ']': case '{': case '}': return at;
            default: break;
        }
    }
    return 0;
}

bool StructuralIndex::next() {
    using namespace simdjson;
    count = 0;
    size_t size = window_size;
    base = end;
    while (!error && base < length) {
        size_t rest = length - base;
        bool is_last = rest <= size + size / 2;
        bool is_quote = false;
        size_t window = is_last ? rest : choose_end(size, is_quote);
        if (window == 0) {
            size *= 2;
            continue;
        }
        if (window > SIMDJSON_MAXSIZE_BYTES) {
            error = CSJ_FAILURE_TOO_LARGE;
            break;
        }
        int code = scan(window);
        if (code == UNCLOSED_STRING && !is_last && is_quote) {
            // The quote opens a string: end before it. If the window begins with it, the string is longer than the window.
            if (--window == 0) {
                size *= 2;
                continue;
            }
            code = scan(window);
        }
        end = base + window;
        switch (code) {
            case SUCCESS:
                positions = engine->parser->structural_indexes.get();
                count = engine->parser->n_structural_indexes;
                return true;
            case EMPTY:
                base = end;
                break;
            case UTF8_ERROR:
                error = CSJ_FAILURE_UTF8;
                error_offset = base + locate_utf8_error(body + base, window);
                break;
            case CAPACITY: error = CSJ_FAILURE_TOO_LARGE; break;
            case MEMALLOC: error = CSJ_FAILURE_OUT_OF_MEMORY; break;
            default:
                error = locate_string_error(body + base, window, error_offset);
                error_offset += base;
                break;
        }
    }
    return false;
}

}  // namespace csj

extern "C" int csj_is_utf8(const uint8_t *bytes, size_t length) {
    return simdjson::validate_utf8(reinterpret_cast<const char *>(bytes), length);
}
