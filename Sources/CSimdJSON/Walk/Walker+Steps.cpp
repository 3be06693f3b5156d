#include "Walker.hpp"

namespace csj {

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
    lacks = has_walked = false;
    lack_offset = 0;
    member = csj_cell{};
    in_record = logs_keys = false;
    frames.clear();
    actives.clear();
    marks.clear();
    collectors.clear();
    opens.clear();
    key_log.clear();
    hits.clear();
    targets.clear();
    walked.clear();
    member_names.clear();
    record.clear();
    envelope.clear();

    // Offsets have 32 bits, of which the last is taken for "none".
    if (request.length >= UINT32_MAX) { return fail(CSJ_FAILURE_TOO_LARGE, 0); }
    index.begin(body, request.length, request.window ? request.window : StructuralIndex::usual_window);
    backslash = 0;
    find_backslash(0);
    if (!next_window()) { return failure ? false : fail(CSJ_FAILURE_EMPTY, request.length); }

    if (request.envelope && make_instance(envelope, request.envelope, 0) == no_instance) { return false; }
    if (request.locator) {
        if (make_instance(envelope, request.locator, 0) == no_instance) { return false; }
    } else if (!start_record(token_offset())) {
        return false;
    }
    state = State::value;
    return true;
}

int Walker::step() {
    record.expire();
    if (failure) { return CSJ_STEP_FAILED; }
    int result = walk();
    if (result == CSJ_STEP_RECORD) {
        record.publish(body, request.length);
        record.view->record_index = record_count - 1;
        record.view->member = member;
        record.view->problem = problem;
        record.view->problem_offset = problem_offset;
        record.view->problem_limit = problem_limit();
    } else if (result == CSJ_STEP_END) {
        envelope.publish(body, request.length);
    }
    return result;
}

void Walker::end() {
    state = State::done;
    record.expire();
    envelope.expire();
    body = nullptr;
    positions = nullptr;
    token = token_count = 0;
}

void Walker::trim() {
    end();
    index.trim();
    record.trim();
    envelope.trim();
    key_log.trim();
    frames.trim();
    actives.trim();
    marks.trim();
    collectors.trim();
    opens.trim();
    hits.trim();
    targets.trim();
    key_text.trim();
    walked.trim();
    member_names.trim();
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

}  // namespace csj
