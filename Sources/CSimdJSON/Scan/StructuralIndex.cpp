#include "StructuralIndex.hpp"

#include <simdjson.h>

#include "CSimdJSON.h"

namespace csj {

struct StructuralIndex::Engine {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
};

StructuralIndex::StructuralIndex() : engine(new Engine) {}
StructuralIndex::~StructuralIndex() = default;

void StructuralIndex::trim() {
    engine->parser.reset();
    positions = nullptr;
    count = 0;
}

/// Only called when the SIMD pass has found such a thing: where is it?
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

int StructuralIndex::build(const uint8_t *body, size_t length, size_t &offset) {
    using namespace simdjson;
    offset = 0;
    positions = nullptr;
    count = 0;
    if (length > SIMDJSON_MAXSIZE_BYTES) { return CSJ_FAILURE_TOO_LARGE; }
    error_code error = SUCCESS;
    if (!engine->parser) {
        // The nesting depth belongs to libsimdjson's own second stage, which is not used.
        error = get_active_implementation()->create_dom_parser_implementation(length, 1, engine->parser);
    } else if (engine->parser->capacity() < length) {
        error = engine->parser->set_capacity(length);
    }
    if (error) {
        engine->parser.reset();
        return error == CAPACITY ? CSJ_FAILURE_TOO_LARGE : CSJ_FAILURE_OUT_OF_MEMORY;
    }
    error = engine->parser->stage1(body, length, stage1_mode::regular);
    switch (error) {
        case SUCCESS: break;
        case EMPTY: return CSJ_FAILURE_EMPTY;
        case UTF8_ERROR: offset = find_invalid_utf8(body, length); return CSJ_FAILURE_UTF8;
        case CAPACITY: return CSJ_FAILURE_TOO_LARGE;
        default: return locate_string_error(body, length, offset);
    }
    positions = engine->parser->structural_indexes.get();
    count = engine->parser->n_structural_indexes;
    return CSJ_FAILURE_NONE;
}

size_t find_invalid_utf8(const uint8_t *body, size_t length) {
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

}  // namespace csj
