#include "RecordCutter.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace csj {

static inline bool is_space(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

/// What a number or literal cannot go on with.
static inline bool ends_word(uint8_t byte) {
    switch (byte) {
        case ',': case ':': case '[': case ']': case '{': case '}': case '"': return true;
        default: return is_space(byte);
    }
}

RecordCutter::RecordCutter(const csj_cutting &cutting, FindEnd find_end)
    : find_end(find_end), max_records(cutting.max_records) {
    for (size_t segment = 0; segment < cutting.path_length; ++segment) {
        const csj_segment &step = cutting.path[segment];
        // There may be several lists: the reader knows where they are.
        if (step.is_each) { pass(); }
        path.push_back(step.key ? std::string(reinterpret_cast<const char *>(step.key), step.key_length) : std::to_string(step.index));
    }
}

void RecordCutter::feed(const uint8_t *bytes, size_t length) {
    base += uint64_t(end - begin);
    begin = at = pending = bytes;
    end = bytes + length;
}

int RecordCutter::status() const {
    if (is_in_list()) { return CSJ_CUTTER_IN_LIST; }
    if (state != State::rest) { return CSJ_CUTTER_LOOKING; }
    return list_start == no_list ? CSJ_CUTTER_UNDECIDED : CSJ_CUTTER_CUT;
}

int RecordCutter::fail(int code, uint64_t where) {
    failure = code;
    failure_offset = where;
    state = State::failed;
    return CSJ_CUT_FAILED;
}

int RecordCutter::next(csj_cut &cut) {
    if (state < State::first_element) { locate(); }
    for (;;) {
        switch (state) {
            case State::first_element: case State::next_element: case State::after_element:
                if (!skip_space()) { return ask_for_more(); }
                if (!read_separator()) { return CSJ_CUT_FAILED; }
                break;
            case State::in_container: return skip_container() ? hand_out(cut) : ask_for_more();
            case State::in_string: return skip_string() ? hand_out(cut) : ask_for_more();
            case State::in_word: return skip_word() ? hand_out(cut) : ask_for_more();
            case State::failed: return CSJ_CUT_FAILED;
            default:
                at = state == State::rest ? end : at;
                return ask_for_more();
        }
    }
}

/// At what stands between elements; false: it must not.
bool RecordCutter::read_separator() {
    const bool is_after = state == State::after_element;
    if (*at == ',' && is_after) {
        ++at;
        state = State::next_element;
        return true;
    }
    if (*at == ']' && state != State::next_element) {
        list_end = offset();
        pending = at;
        state = State::rest;
        return true;
    }
    if (is_after) { return fail(CSJ_FAILURE_EXPECTED_COMMA_OR_BRACKET, offset()); }
    return start_record();
}

bool RecordCutter::start_record() {
    switch (*at) {
        case '{': case '[': state = State::in_container; break;
        case '"': state = State::in_string; break;
        case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        case 't': case 'f': case 'n': state = State::in_word; break;
        case 0:
            // UTF-16, probably: the reader knows what to say.
            if (offset() == list_start) {
                list_start = no_list;
                give_up();
                return true;
            }
            return fail(CSJ_FAILURE_EXPECTED_VALUE, offset());
        default: return fail(CSJ_FAILURE_EXPECTED_VALUE, offset());
    }
    if (record_count >= max_records) { return fail(CSJ_FAILURE_MAX_RECORDS, offset()); }
    ++record_count;
    record_start = offset();
    gathered.clear();
    pending = at;
    at += state == State::in_string;
    return true;
}

int RecordCutter::hand_out(csj_cut &cut) {
    const size_t length = size_t(at - pending);
    if (gathered.empty()) {
        cut.bytes = pending;
        cut.length = length;
    } else {
        memcpy(gathered.extend(length), pending, length);
        cut.bytes = gathered.data();
        cut.length = gathered.size();
    }
    cut.hash = XXH3_128bits(cut.bytes, cut.length).low64;
    cut.offset = record_start;
    state = State::after_element;
    return CSJ_CUT_RECORD;
}

/// At the end of the chunk, which will be gone when there is more.
int RecordCutter::ask_for_more() {
    if (is_in_record()) {
        const size_t length = size_t(at - pending);
        if (length) { memcpy(gathered.extend(length), pending, length); }
        pending = at;
    } else if (!is_in_list()) {
        copy();
    }
    return CSJ_CUT_MORE;
}

bool RecordCutter::finish() {
    if (is_in_list()) { fail(CSJ_FAILURE_UNEXPECTED_END, base + uint64_t(end - begin)); }
    return state != State::failed;
}

bool RecordCutter::skip_space() {
    while (at < end && is_space(*at)) { ++at; }
    return at < end;
}

/// To behind the closing quote.
bool RecordCutter::skip_string() {
    while (at < end) {
        const uint8_t byte = *at++;
        if (nesting.is_escaped) {
            nesting.is_escaped = false;
        } else if (byte == '\\') {
            nesting.is_escaped = true;
        } else if (byte == '"') {
            return true;
        }
    }
    return false;
}

bool RecordCutter::skip_word() {
    while (at < end && !ends_word(*at)) { ++at; }
    return at < end;
}

bool RecordCutter::skip_container() {
    const uint8_t *after = find_end(at, end, nesting);
    at = after ? after : end;
    return after;
}

}  // namespace csj
