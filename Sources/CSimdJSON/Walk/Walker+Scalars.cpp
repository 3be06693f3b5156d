#include "../Scan/Numbers.hpp"
#include "../Scan/Strings.hpp"
#include "Walker.hpp"

namespace csj {

bool Walker::read_scalar(uint32_t offset) {
    uint32_t end = token_end(offset);
    if (in_record && (frames.empty() || frames.back().is_record_list)) {
        if (request.locator) { note(CSJ_PROBLEM_NOT_AN_OBJECT, offset); }
        record.instances[0].length = end - offset;
    }
    csj_cell value{};
    value.offset = offset;
    value.length = end - offset;
    uint8_t byte = body[offset];
    switch (byte) {
        case '"': return read_string(offset, end);
        case '-':
        case '0': case '1': case '2': case '3': case '4':
        case '5': case '6': case '7': case '8': case '9': return read_number_token(offset, end);
        case 't':
            if (value.length != 4 || memcmp(body + offset, "true", 4) != 0) { return fail(CSJ_FAILURE_BAD_LITERAL, offset); }
            value.kind = CSJ_TRUE;
            break;
        case 'f':
            if (value.length != 5 || memcmp(body + offset, "false", 5) != 0) { return fail(CSJ_FAILURE_BAD_LITERAL, offset); }
            value.kind = CSJ_FALSE;
            break;
        case 'n':
            if (value.length != 4 || memcmp(body + offset, "null", 4) != 0) { return fail(CSJ_FAILURE_BAD_LITERAL, offset); }
            value.kind = CSJ_NULL;
            break;
        default: return fail(CSJ_FAILURE_EXPECTED_VALUE, offset);
    }
    capture_scalar(value, false);
    return true;
}

bool Walker::read_string(uint32_t offset, uint32_t end) {
    if (end - offset < 2 || body[end - 1] != '"') { return fail(CSJ_FAILURE_UNCLOSED_STRING, offset); }
    csj_cell value{};
    value.kind = CSJ_STRING;
    value.offset = offset;
    value.length = end - offset;
    value.payload = offset + 1;
    value.count = value.length - 2;
    bool is_escaped = next_backslash(offset) < end;
    if (is_escaped) {
        // Checked and measured first: what nobody wants is not copied, and what is too long is not either.
        Decoded decoded = decode_string(body + offset + 1, body + end - 1, nullptr, request.nul_in_text == CSJ_NUL_STRIP);
        if (decoded.malformed) { return fail(CSJ_FAILURE_BAD_ESCAPE, size_t(decoded.malformed - body)); }
        if (decoded.lone_surrogate && request.lone_surrogates == CSJ_SURROGATES_REJECT) {
            note(CSJ_PROBLEM_LONE_SURROGATE, size_t(decoded.lone_surrogate - body));
        }
        if (decoded.nul && request.nul_in_text == CSJ_NUL_REJECT) { note(CSJ_PROBLEM_NUL, size_t(decoded.nul - body)); }
        value.count = uint32_t(decoded.length);
    }
    if (value.count > request.max_string) {
        if (!exceed(CSJ_PROBLEM_STRING_LENGTH, CSJ_FAILURE_MAX_STRING, offset)) { return false; }
        return true;
    }
    capture_scalar(value, is_escaped);
    return true;
}

bool Walker::read_number_token(uint32_t offset, uint32_t end) {
    bool is_wanted = !(hits.empty() && targets.empty());
    Number number = read_number(body + offset, body + end, request.max_number_digits, is_wanted);
    csj_cell value{};
    value.offset = offset;
    value.length = end - offset;
    value.kind = CSJ_BIG_NUMBER;
    value.payload = number.bits;
    switch (number.kind) {
        case NumberKind::malformed: return fail(CSJ_FAILURE_BAD_NUMBER, offset);
        case NumberKind::int64: value.kind = CSJ_INT64; break;
        case NumberKind::float64: value.kind = CSJ_DOUBLE; break;
        case NumberKind::big_integer:
            if (request.big_integers == CSJ_NUMBERS_REJECT) { note(CSJ_PROBLEM_BIG_INTEGER, offset); }
            break;
        case NumberKind::overflow:
            if (request.number_overflow == CSJ_NUMBERS_REJECT) { note(CSJ_PROBLEM_NUMBER_OVERFLOW, offset); }
            break;
        case NumberKind::underflow: break;
        case NumberKind::too_many_digits:
            if (!exceed(CSJ_PROBLEM_NUMBER_DIGITS, CSJ_FAILURE_MAX_NUMBER_DIGITS, offset)) { return false; }
            break;
    }
    if (is_wanted) { capture_scalar(value, false); }
    return true;
}

void Walker::capture_scalar(const csj_cell &value, bool is_escaped) {
    for (const Collector &target : targets) {
        target.arena->items[target.at] = is_escaped ? in_scratch(*target.arena, value) : value;
    }
    for (const Hit &hit : hits) {
        for (uint32_t at = hit.node->captures; at < hit.node->captures_end; ++at) {
            const Capture &capture = hit.plan->captures[at];
            csj_cell cell = value;
            if (capture.kind == CSJ_CAPTURE_RAW) {
                cell = csj_cell{};
                cell.kind = CSJ_RAW;
                cell.offset = value.offset;
                cell.length = value.length;
            } else if (capture.kind == CSJ_CAPTURE_LOCATE) {
                found_records(value.offset, value.kind == CSJ_NULL ? CSJ_FOUND_NULL : CSJ_FOUND_SCALAR, nullptr);
            } else if (is_escaped) {
                cell = in_scratch(*hit.arena, value);
            }
            hit.arena->cells[hit.arena->instances[hit.instance].cells + capture.slot] = cell;
        }
    }
}

/// The string decoded into the arena's own buffer.
csj_cell Walker::in_scratch(Arena &arena, csj_cell value) {
    size_t start = arena.scratch.size();
    const uint8_t *text = body + value.offset + 1;
    size_t raw_length = value.length - 2;
    arena.scratch.resize(start + raw_length);
    Decoded decoded = decode_string(text, text + raw_length, arena.scratch.data() + start, request.nul_in_text == CSJ_NUL_STRIP);
    arena.scratch.resize(start + decoded.length);
    value.flags = CSJ_IN_SCRATCH;
    value.payload = start;
    value.count = uint32_t(decoded.length);
    return value;
}

}  // namespace csj
