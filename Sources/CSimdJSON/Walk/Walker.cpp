#include "Walker.hpp"

#include "../Scan/Strings.hpp"

namespace csj {

static inline bool is_space(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

bool Walker::fail(int code, size_t offset) {
    failure = code;
    failure_offset = offset;
    state = State::done;
    return false;
}

bool Walker::begin(const csj_request &what) {
    end();
    request = what;
    body = request.body;
    failure = CSJ_FAILURE_NONE;
    failure_offset = 0;
    problem = CSJ_PROBLEM_NONE;
    found = CSJ_FOUND_NOTHING;
    found_offset = 0;
    record_count = 0;
    token = 0;
    backslash = 0;
    in_record = logs_keys = false;
    frames.clear();
    actives.clear();
    collectors.clear();
    opens.clear();
    key_log.clear();
    hits.clear();
    targets.clear();
    record.clear();
    envelope.clear();

    size_t offset;
    int error = index.build(body, request.length, offset);
    if (error) { return fail(error, offset); }
    positions = index.positions;
    token_count = index.count;
    backslash = 0;
    backslash = next_backslash(0);

    if (request.envelope && make_instance(envelope, request.envelope, 0) == no_instance) { return false; }
    if (request.locator) {
        if (make_instance(envelope, request.locator, 0) == no_instance) { return false; }
    } else if (!start_record(positions[0])) {
        return false;
    }
    state = State::value;
    return true;
}

void Walker::end() {
    state = State::done;
    record.expire();
    envelope.expire();
    body = nullptr;
    positions = nullptr;
    token_count = 0;
}

void Walker::trim() {
    end();
    index.trim();
    record.trim();
    envelope.trim();
    key_log.trim();
    frames.shrink_to_fit();
    actives = {};
    collectors = {};
    opens = {};
    hits = {};
    targets = {};
    key_text = {};
}

int Walker::step() {
    record.expire();
    if (failure) { return CSJ_STEP_FAILED; }
    int result = walk();
    if (result == CSJ_STEP_RECORD) {
        record.publish(body, request.length);
        record.view->record_index = record_count - 1;
        record.view->problem = problem;
        record.view->problem_offset = problem_offset;
        record.view->problem_limit = problem_limit();
    } else if (result == CSJ_STEP_END) {
        envelope.publish(body, request.length);
    }
    return result;
}

uint64_t Walker::problem_limit() const {
    switch (problem) {
        case CSJ_PROBLEM_NUMBER_DIGITS: return request.max_number_digits;
        case CSJ_PROBLEM_STRING_LENGTH: return request.max_string;
        case CSJ_PROBLEM_KEY_LENGTH: return request.max_key;
        case CSJ_PROBLEM_CELLS: return request.max_cells;
        default: return 0;
    }
}

int Walker::walk() {
    bool ends_record = false;
    for (;;) {
        switch (state) {
            case State::done: return failure ? CSJ_STEP_FAILED : CSJ_STEP_END;
            case State::value:
                if (!read_value()) { return CSJ_STEP_FAILED; }
                // A scalar in the record list is a (bad) record by itself.
                if (state == State::after && in_record && (frames.empty() || frames.back().is_record_list)) {
                    in_record = logs_keys = false;
                    return CSJ_STEP_RECORD;
                }
                break;
            case State::after: {
                if (frames.empty()) {
                    if (token < token_count) {
                        fail(CSJ_FAILURE_TRAILING_DATA, positions[token]);
                        return CSJ_STEP_FAILED;
                    }
                    state = State::done;
                    return CSJ_STEP_END;
                }
                if (token >= token_count) {
                    fail(CSJ_FAILURE_UNEXPECTED_END, request.length);
                    return CSJ_STEP_FAILED;
                }
                uint32_t offset = positions[token];
                uint8_t byte = body[offset];
                bool is_object = frames.back().is_object;
                if (byte == ',') {
                    ++token;
                    if (!(is_object ? read_key() : next_element())) { return CSJ_STEP_FAILED; }
                    state = State::value;
                } else if (byte == (is_object ? '}' : ']')) {
                    ++token;
                    ends_record = false;
                    if (!close_container(offset, ends_record)) { return CSJ_STEP_FAILED; }
                    if (ends_record) { return CSJ_STEP_RECORD; }
                } else {
                    fail(is_object ? CSJ_FAILURE_EXPECTED_COMMA_OR_BRACE : CSJ_FAILURE_EXPECTED_COMMA_OR_BRACKET, offset);
                    return CSJ_STEP_FAILED;
                }
                break;
            }
        }
    }
}

bool Walker::read_value() {
    if (token >= token_count) { return fail(CSJ_FAILURE_UNEXPECTED_END, request.length); }
    uint32_t offset = positions[token];
    uint8_t byte = body[offset];
    if (byte == '{' || byte == '[') { return open_container(offset, byte == '{'); }
    if (!read_scalar(offset)) { return false; }
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
    frame.is_record = in_record && (frames.empty() || frames.back().is_record_list);
    if (frame.is_record && !is_object && request.locator) {
        // An array is a record if some field wants one of its elements.
        const Node &root = request.plan->nodes[0];
        if (root.elements == root.elements_end) { note(CSJ_PROBLEM_NOT_AN_OBJECT, offset); }
    }
    if (!(hits.empty() && targets.empty()) && !capture_container(frame)) { return false; }
    frames.push_back(frame);
    ++token;
    if (token >= token_count) { return fail(CSJ_FAILURE_UNEXPECTED_END, request.length); }
    if (body[positions[token]] == (is_object ? '}' : ']')) {
        // Empty: closed by the next round, as after an element.
        state = State::after;
        return true;
    }
    state = State::value;
    return is_object ? read_key() : next_element();
}

bool Walker::close_container(uint32_t offset, bool &ends_record) {
    const Frame frame = frames.back();
    frames.pop_back();
    uint32_t end = offset + 1;
    while (opens.size() > frame.opens) {
        const Open &open = opens.back();
        switch (open.kind) {
            case Open::cell: open.arena->cells[open.at].length = end - frame.offset; break;
            case Open::item: open.arena->items[open.at].length = end - frame.offset; break;
            case Open::instance: open.arena->instances[open.at].length = end - frame.offset; break;
        }
        opens.pop_back();
    }
    actives.resize(frame.actives);
    collectors.resize(frame.collectors);
    if (key_log.size() > frame.keys) {
        uint32_t repeated = key_log.close(body, frame.keys, frames.size());
        if (repeated != KeyLog::none) { note(CSJ_PROBLEM_DUPLICATE_KEY, repeated); }
    }
    if (frame.is_record) {
        ends_record = true;
        in_record = logs_keys = false;
    }
    return true;
}

bool Walker::read_key() {
    hits.clear();
    targets.clear();
    if (token >= token_count) { return fail(CSJ_FAILURE_UNEXPECTED_END, request.length); }
    uint32_t offset = positions[token];
    if (body[offset] != '"') { return fail(CSJ_FAILURE_EXPECTED_KEY, offset); }
    uint32_t end = token_end(offset);
    if (end - offset < 2 || body[end - 1] != '"') { return fail(CSJ_FAILURE_UNCLOSED_STRING, offset); }

    const uint8_t *key = body + offset + 1;
    size_t length = end - offset - 2;
    uint32_t raw_length = uint32_t(length);
    bool is_escaped = next_backslash(offset) < end;
    if (is_escaped) {
        key_text.resize(length);
        Decoded decoded = decode_string(key, key + length, key_text.data(), false);
        if (decoded.malformed) { return fail(CSJ_FAILURE_BAD_ESCAPE, size_t(decoded.malformed - body)); }
        if (decoded.lone_surrogate && request.lone_surrogates == CSJ_SURROGATES_REJECT) {
            note(CSJ_PROBLEM_LONE_SURROGATE, size_t(decoded.lone_surrogate - body));
        }
        key = key_text.data();
        length = decoded.length;
    }
    if (length > request.max_key && !exceed(CSJ_PROBLEM_KEY_LENGTH, CSJ_FAILURE_MAX_KEY, offset)) { return false; }

    uint32_t first = frames.back().actives;
    if (logs_keys || first < actives.size()) {
        uint64_t hash = hash_key(key, length);
        if (logs_keys) { key_log.add(hash, {offset + 1, raw_length, is_escaped}); }
        // By index and by copy: a match may make the vectors move.
        for (size_t at = first; at < actives.size(); ++at) {
            const Hit active = actives[at];
            if (!match(active, hash, key, length, offset, is_escaped)) { return false; }
        }
    }

    ++token;
    if (token >= token_count) { return fail(CSJ_FAILURE_UNEXPECTED_END, request.length); }
    if (body[positions[token]] != ':') { return fail(CSJ_FAILURE_EXPECTED_COLON, positions[token]); }
    ++token;
    return true;
}

bool Walker::next_element() {
    hits.clear();
    targets.clear();
    Frame &frame = frames.back();
    uint32_t element = frame.element++;
    if (token >= token_count) { return fail(CSJ_FAILURE_UNEXPECTED_END, request.length); }
    if (frame.is_record_list && !start_record(positions[token])) { return false; }
    for (size_t at = frame.actives; at < actives.size(); ++at) {
        const Hit active = actives[at];
        if (const Node *node = active.plan->element(*active.node, element)) {
            hits.push_back({active.arena, active.plan, node, active.instance});
        }
    }
    for (size_t at = frame.collectors; at < collectors.size(); ++at) {
        const Collector collector = collectors[at];
        uint32_t item;
        csj_cell empty{};
        if (!add_to_array(*collector.arena, collector.at, empty, item)) { return false; }
        if (item != CSJ_NO_ITEM) { targets.push_back({collector.arena, collector.plan, item}); }
    }
    return true;
}

/// The end of the scalar token at the current place: there is nothing but white space between it and the token that follows.
uint32_t Walker::token_end(uint32_t offset) const {
    uint32_t end = positions[token + 1];
    while (end > offset + 1 && is_space(body[end - 1])) { --end; }
    return end;
}

/// Where the first backslash at or after `from` is. Strings come in the order of the document, so that the document is searched once in all.
uint32_t Walker::next_backslash(uint32_t from) {
    if (backslash < from || from == 0) {
        const void *at = memchr(body + from, '\\', request.length - from);
        backslash = at ? uint32_t(static_cast<const uint8_t *>(at) - body) : UINT32_MAX;
    }
    return backslash;
}

}  // namespace csj
