#include "Walker.hpp"

namespace csj {

/// The container that opens is one that a wildcard of the locator goes over.
void Walker::walk_over(Frame &frame, const Hit &hit) {
    find(CSJ_FOUND_ARRAY, frame.offset);
    Walked over{};
    over.child = hit;
    over.child.node = hit.node->each;
    over.is_object = frame.is_object;
    walked.push(over);
    if (frame.is_object) { member_names.open(); }
    frame.is_walked = true;
    frame.is_record_list = over.child.node->has_captures();
}

void Walker::leave_walked() {
    note_lack();
    if (walked.back().is_object) { member_names.close(); }
    walked.pop();
}

/// At the name of a member; `is_met`: its value counts.
bool Walker::begin_member(const Key &key, uint32_t offset, uint32_t end, bool is_escaped, bool &is_met) {
    is_met = !member_names.add(key.hash, offset, body, key_log);
    if (!is_met) {
        // What stands under the first of the two has been handed out already: that this one counts instead cannot be put right later.
        return request.duplicate_keys == CSJ_DUPLICATES_FIRST || fail(CSJ_FAILURE_AMBIGUOUS_ENVELOPE, offset);
    }
    Walked &over = walked.back();
    note_lack();
    over.name = offset;
    over.name_length = end - offset;
    over.is_name_escaped = is_escaped;
    return true;
}

/// At the first byte of an element, or of a member's value.
bool Walker::begin_child(uint32_t offset) {
    note_lack();
    Walked &over = walked.back();
    over.offset = offset;
    has_walked = true;
    const bool is_last = frames.back().is_record_list;
    // Where the path ends, an array is a list of records, and anything else is a record.
    if (is_last && body[offset] != '[') { return start_record(offset); }
    over.owes = !is_last;
    hits.push(over.child);
    return true;
}

/// Something stands where the path leads, or where a wildcard goes over it.
void Walker::find(int what, size_t offset) {
    if (!walked.empty()) {
        walked.back().owes = false;
        if (what == CSJ_FOUND_OBJECT) { what = CSJ_FOUND_ARRAY; }
    }
    const bool is_worse = what == CSJ_FOUND_SCALAR ? found != what : what == CSJ_FOUND_NULL && found != what && found != CSJ_FOUND_SCALAR;
    if (found != CSJ_FOUND_NOTHING && !is_worse) { return; }
    found = what;
    found_offset = offset;
}

/// The child that was met last is over: if the path goes on in it, it must have led somewhere.
void Walker::note_lack() {
    Walked &over = walked.back();
    if (over.owes && !lacks) {
        lacks = true;
        lack_offset = over.offset;
    }
    over.owes = false;
}

/// The name counts as part of the record: what may not stand in the record's texts may not stand there.
void Walker::name_record() {
    member = csj_cell{};
    for (size_t at = walked.size(); at-- > 0;) {
        const Walked &over = walked[at];
        if (!over.is_object) { continue; }
        member.kind = CSJ_STRING;
        member.offset = over.name;
        member.length = over.name_length;
        member.payload = over.name + 1;
        member.count = over.name_length - 2;
        if (over.is_name_escaped && check_escapes(over.name, over.name + over.name_length, member)) { member = in_scratch(record, member); }
        return;
    }
}

}  // namespace csj
