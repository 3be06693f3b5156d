#include "Walker.hpp"

#include "../Scan/Numbers.hpp"

namespace csj {

static inline bool is_space(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

bool Walker::fail(int code, size_t offset) {
    failure = code;
    failure_offset = offset;
    state = State::done;
    return false;
}

bool Walker::ended() { return failure ? false : fail(CSJ_FAILURE_UNEXPECTED_END, request.length); }

bool Walker::next_window() {
    token = token_count = 0;
    if (!index.next()) {
        if (index.error) { fail(index.error, index.error_offset); }
        return false;
    }
    positions = index.positions;
    token_count = index.count;
    base = uint32_t(index.base);
    return true;
}

inline uint32_t Walker::token_end(uint32_t offset) const {
    uint32_t end = base + positions[token + 1];
    while (end > offset + 1 && is_space(body[end - 1])) { --end; }
    return end;
}

/// Strings come in the order of the document, so that the document is searched for backslashes once in all.
uint32_t Walker::find_backslash(uint32_t from) {
    const void *at = memchr(body + from, '\\', request.length - from);
    backslash = at ? uint32_t(static_cast<const uint8_t *>(at) - body) : UINT32_MAX;
    return backslash;
}

int Walker::walk() {
    for (;;) {
        switch (state) {
            case State::done: return failure ? CSJ_STEP_FAILED : CSJ_STEP_END;
            case State::members:
                if (!read_members()) { return CSJ_STEP_FAILED; }
                break;
            case State::element:
                if (!next_element()) { return CSJ_STEP_FAILED; }
                break;
            case State::value:
                if (!read_value()) { return CSJ_STEP_FAILED; }
                // A scalar in the record list is a (bad) record by itself.
                if (in_record && state == State::after && (frames.empty() || frames.back().is_record_list)) {
                    in_record = logs_keys = false;
                    return CSJ_STEP_RECORD;
                }
                break;
            case State::after: {
                bool is_open = !frames.empty();
                if (!has_token()) {
                    if (is_open) { ended(); }
                    state = State::done;
                    break;
                }
                uint32_t offset = token_offset();
                if (!is_open) {
                    fail(CSJ_FAILURE_TRAILING_DATA, offset);
                    break;
                }
                uint8_t byte = body[offset];
                const Frame &frame = frames.back();
                ++token;
                if (byte == ',') {
                    state = frame.is_object ? State::members : State::element;
                } else if (byte == (frame.is_object ? '}' : ']')) {
                    if (close_container(offset)) { return CSJ_STEP_RECORD; }
                } else {
                    fail(frame.is_object ? CSJ_FAILURE_EXPECTED_COMMA_OR_BRACE : CSJ_FAILURE_EXPECTED_COMMA_OR_BRACKET, offset);
                }
                break;
            }
        }
    }
}

inline bool Walker::read_value() {
    if (!has_token()) { return ended(); }
    uint32_t offset = token_offset();
    uint8_t byte = body[offset];
    if (byte == '{' || byte == '[') { return open_container(offset, byte == '{'); }
    uint32_t end = token_end(offset);
    if (in_record && (frames.empty() || frames.back().is_record_list)) {
        if (request.locator) { note(CSJ_PROBLEM_NOT_AN_OBJECT, offset); }
        record.instances[0].length = end - offset;
    }
    csj_cell value;
    bool is_escaped = false;
    bool wanted = is_wanted();
    if (!read_scalar(offset, end, wanted, value, is_escaped)) { return false; }
    if (wanted) { capture_scalar(value, is_escaped); }
    ++token;
    state = State::after;
    return true;
}

bool Walker::open_container(uint32_t offset, bool is_object) {
    if (frames.size() >= request.max_depth) { return fail(CSJ_FAILURE_MAX_DEPTH, offset); }
    Frame frame{};
    frame.offset = offset;
    frame.is_object = is_object;
    frame.actives = uint32_t(actives.size());
    frame.collectors = uint32_t(collectors.size());
    frame.opens = uint32_t(opens.size());
    frame.keys = uint32_t(key_log.size());
    frame.marks = uint32_t(marks.size());
    frame.is_record = in_record && (frames.empty() || frames.back().is_record_list);
    if (frame.is_record && !is_object && request.locator) {
        // An array is a record if some field wants one of its elements.
        if (!request.plan->root()->has_elements()) { note(CSJ_PROBLEM_NOT_AN_OBJECT, offset); }
    }
    if (is_wanted() && !capture_container(frame)) { return false; }
    frames.push(frame);
    ++token;
    if (!has_token()) { return ended(); }
    if (body[token_offset()] == (is_object ? '}' : ']')) {
        // Empty: closed by the next round, as after an element.
        state = State::after;
    } else {
        state = is_object ? State::members : State::element;
    }
    return true;
}

/// True: that was the end of a record.
bool Walker::close_container(uint32_t offset) {
    const Frame frame = frames.back();
    frames.pop();
    uint32_t end = offset + 1;
    while (opens.size() > frame.opens) {
        const Open &open = opens.back();
        switch (open.kind) {
            case Open::cell: open.arena->cells[open.at].length = end - frame.offset; break;
            case Open::item: open.arena->items[open.at].length = end - frame.offset; break;
            case Open::instance: open.arena->instances[open.at].length = end - frame.offset; break;
        }
        opens.pop();
    }
    actives.drop_to(frame.actives);
    marks.drop_to(frame.marks);
    collectors.drop_to(frame.collectors);
    if (key_log.size() > frame.keys) {
        uint32_t repeated = key_log.close(body, frame.keys, frames.size());
        if (repeated != KeyLog::none) { note(CSJ_PROBLEM_DUPLICATE_KEY, repeated); }
    }
    if (frame.is_walked) { leave_walked(); }
    if (frame.is_record) { in_record = logs_keys = false; }
    return frame.is_record;
}

/// From a key on through the members of the innermost object, as long as their values are scalars; the usual things without any detour.
inline bool Walker::read_members() {
    if (frames.back().is_walked) { return read_key(); }
    const uint32_t first = frames.back().actives;
    const size_t count = actives.size() - first;
    // A record is an object which one plan looks at, and its parts are nearly always such, or ones which nobody looks at.
    Active *const only = count == 1 ? &actives[first] : nullptr;
    for (;;) {
        // Key, colon, value and what comes after it: where the window ends, step by step.
        if (token + 3 >= token_count) { return read_key(); }
        const uint32_t *place = positions + token;
        uint32_t offset = base + place[0];
        uint32_t colon = base + place[1];
        if (body[offset] != '"' || body[colon] != ':') { return read_key(); }
        uint32_t end = token_end(offset);
        const uint8_t *text;
        size_t length;
        bool is_escaped;
        if (!check_key(offset, end, text, length, is_escaped)) { return false; }

        hits.clear();
        targets.clear();
        csj_cell *leaf = nullptr;
        if (logs_keys || count) {
            Key key(text, length);
            if (logs_keys) { key_log.add(key.hash, offset); }
            const KeyEntry *entry = only ? only->hit.node->child(key) : nullptr;
            if (entry && entry->leaf_slot != KeyEntry::no_slot && entry->number < 64 && !(only->seen >> entry->number & 1)) {
                only->seen |= uint64_t(1) << entry->number;
                leaf = &only->hit.arena->cells[only->hit.cells + entry->leaf_slot];
                uint8_t byte = body[base + place[2]];
                if (byte == '{' || byte == '[') {
                    hits.push({only->hit.arena, entry->node, only->hit.instance, only->hit.cells});
                    leaf = nullptr;
                }
            } else if (count && !find_hits(key, offset, end, is_escaped)) {
                return false;
            }
        }

        token += 2;
        offset = base + place[2];
        uint8_t byte = body[offset];
        if (byte == '{' || byte == '[') { return open_container(offset, byte == '{'); }
        // Read to where it stays, if that is one place: copying a cell that was just written part by part makes the processor wait.
        csj_cell elsewhere;
        csj_cell &value = leaf ? *leaf : elsewhere;
        is_escaped = false;
        bool wanted = leaf || !hits.empty();
        if (!read_scalar(offset, token_end(offset), wanted, value, is_escaped)) { return false; }
        if (!leaf) {
            if (wanted) { capture_scalar(value, is_escaped); }
        } else if (is_escaped) {
            value = in_scratch(*only->hit.arena, value);
        }
        ++token;
        if (body[base + place[3]] != ',') {
            state = State::after;
            return true;
        }
        ++token;
    }
}

/// The same for one key, wherever the window ends; the value is left to `read_value`.
bool Walker::read_key() {
    hits.clear();
    targets.clear();
    if (!has_token()) { return ended(); }
    uint32_t offset = token_offset();
    if (body[offset] != '"') { return fail(CSJ_FAILURE_EXPECTED_KEY, offset); }
    uint32_t end = token_end(offset);
    const uint8_t *text;
    size_t length;
    bool is_escaped;
    if (!check_key(offset, end, text, length, is_escaped)) { return false; }
    const bool is_walked = frames.back().is_walked;
    bool is_met = false;
    if (logs_keys || is_walked || frames.back().actives < actives.size()) {
        Key key(text, length);
        if (logs_keys) { key_log.add(key.hash, offset); }
        if (is_walked && !begin_member(key, offset, end, is_escaped, is_met)) { return false; }
        if (!find_hits(key, offset, end, is_escaped)) { return false; }
    }
    ++token;
    if (!has_token()) { return ended(); }
    if (body[token_offset()] != ':') { return fail(CSJ_FAILURE_EXPECTED_COLON, token_offset()); }
    ++token;
    if (is_met) {
        if (!has_token()) { return ended(); }
        if (!begin_child(token_offset())) { return false; }
    }
    state = State::value;
    return true;
}

inline bool Walker::check_key(uint32_t offset, uint32_t end, const uint8_t *&text, size_t &length, bool &is_escaped) {
    if (end - offset < 2 || body[end - 1] != '"') { return fail(CSJ_FAILURE_UNCLOSED_STRING, offset); }
    text = body + offset + 1;
    length = end - offset - 2;
    is_escaped = next_backslash(offset) < end;
    if (is_escaped && !decode_key(text, length)) { return false; }
    return length <= request.max_key || exceed(CSJ_PROBLEM_KEY_LENGTH, CSJ_FAILURE_MAX_KEY, offset);
}

/// What the value of this key is wanted for.
bool Walker::find_hits(const Key &key, uint32_t offset, uint32_t end, bool is_escaped) {
    for (size_t at = frames.back().actives; at < actives.size(); ++at) {
        Active &active = actives[at];
        const Hit &hit = active.hit;
        const KeyEntry *entry = hit.node->child(key);
        if (!entry) {
            bool collects = hit.node->is_root && hit.node->plan->collects_unknown_keys;
            if (collects && !add_unknown_key(hit, offset, end, is_escaped)) { return false; }
        } else if (mark(active, entry->number)) {
            if (!match_again(hit, entry->node, offset)) { return false; }
        } else {
            hits.push({hit.arena, entry->node, hit.instance, hit.cells});
        }
    }
    return true;
}

inline bool Walker::next_element() {
    hits.clear();
    targets.clear();
    state = State::value;
    Frame &frame = frames.back();
    uint32_t element = frame.element++;
    if (!has_token()) { return ended(); }
    if (frame.is_walked) {
        if (!begin_child(token_offset())) { return false; }
    } else if (frame.is_record_list && !start_record(token_offset())) {
        return false;
    }
    if (frame.actives == actives.size() && frame.collectors == collectors.size()) { return true; }
    return add_elements(frame, element);
}

inline bool Walker::read_scalar(uint32_t offset, uint32_t end, bool wanted, csj_cell &value, bool &is_escaped) {
    value = csj_cell{};
    value.offset = offset;
    value.length = end - offset;
    const uint8_t *text = body + offset;
    uint8_t byte = *text;
    if (byte == '"') { return read_string(offset, end, value, is_escaped); }
    if (byte == '-' || uint8_t(byte - '0') <= 9) { return read_number_token(offset, end, wanted, value); }
    switch (byte) {
        case 't': value.kind = CSJ_TRUE; return check_literal("true", 4, value);
        case 'f': value.kind = CSJ_FALSE; return check_literal("false", 5, value);
        case 'n': value.kind = CSJ_NULL; return check_literal("null", 4, value);
        default: return fail(CSJ_FAILURE_EXPECTED_VALUE, offset);
    }
}

inline bool Walker::check_literal(const char *word, uint32_t length, const csj_cell &value) {
    if (value.length == length && memcmp(body + value.offset, word, length) == 0) { return true; }
    return fail(CSJ_FAILURE_BAD_LITERAL, value.offset);
}

inline bool Walker::read_string(uint32_t offset, uint32_t end, csj_cell &value, bool &is_escaped) {
    if (end - offset < 2 || body[end - 1] != '"') { return fail(CSJ_FAILURE_UNCLOSED_STRING, offset); }
    value.kind = CSJ_STRING;
    value.payload = offset + 1;
    value.count = value.length - 2;
    is_escaped = next_backslash(offset) < end;
    if (is_escaped && !check_escapes(offset, end, value)) { return false; }
    if (value.count <= request.max_string) { return true; }
    // Not to be looked at, and above all not to be copied. Where it lies is kept: as JSON text it is handed out as it is.
    value.kind = CSJ_MISSING;
    value.payload = value.count = 0;
    is_escaped = false;
    return exceed(value, CSJ_PROBLEM_STRING_LENGTH, CSJ_FAILURE_MAX_STRING, offset);
}

inline bool Walker::read_number_token(uint32_t offset, uint32_t end, bool wanted, csj_cell &value) {
    Number number = read_number(body + offset, body + end, request.max_number_digits, wanted);
    value.payload = number.bits;
    value.kind = CSJ_BIG_NUMBER;
    switch (number.kind) {
        case NumberKind::int64: value.kind = CSJ_INT64; break;
        case NumberKind::float64: value.kind = CSJ_DOUBLE; break;
        case NumberKind::malformed: return fail(CSJ_FAILURE_BAD_NUMBER, offset);
        case NumberKind::big_integer:
            if (request.big_integers == CSJ_NUMBERS_REJECT) { note(CSJ_PROBLEM_BIG_INTEGER, offset); }
            break;
        case NumberKind::overflow:
            if (request.number_overflow == CSJ_NUMBERS_REJECT) { note(CSJ_PROBLEM_NUMBER_OVERFLOW, offset); }
            break;
        case NumberKind::underflow: break;
        case NumberKind::too_many_digits:
            return exceed(value, CSJ_PROBLEM_NUMBER_DIGITS, CSJ_FAILURE_MAX_NUMBER_DIGITS, offset);
    }
    return true;
}

void Walker::capture_scalar(const csj_cell &value, bool is_escaped) {
    for (size_t at = 0; at < targets.size(); ++at) {
        const Collector &target = targets[at];
        target.arena->items[target.at] = is_escaped ? in_scratch(*target.arena, value) : value;
    }
    for (size_t at = 0; at < hits.size(); ++at) {
        const Hit &hit = hits[at];
        // A list without elements, as it is where the list itself is null.
        if (hit.node->each && value.kind == CSJ_NULL) { find(CSJ_FOUND_NULL, value.offset); }
        for (const Capture *next = hit.node->captures; next < hit.node->captures_end; ++next) {
            const Capture &capture = *next;
            csj_cell &cell = hit.arena->cells[hit.cells + capture.slot];
            if (capture.kind == CSJ_CAPTURE_RAW) {
                cell = csj_cell{};
                cell.kind = CSJ_RAW;
                cell.offset = value.offset;
                cell.length = value.length;
            } else if (is_escaped) {
                cell = in_scratch(*hit.arena, value);
            } else {
                cell = value;
            }
            if (capture.kind == CSJ_CAPTURE_LOCATE) {
                found_records(value.offset, value.kind == CSJ_NULL ? CSJ_FOUND_NULL : CSJ_FOUND_SCALAR, nullptr);
            }
        }
    }
}

}  // namespace csj
