#include "../Scan/Strings.hpp"
#include "Walker.hpp"

namespace csj {

void Walker::note(int code, size_t offset) {
    if (in_record && problem == CSJ_PROBLEM_NONE) {
        problem = code;
        problem_offset = offset;
    }
}

bool Walker::exceed(int problem_code, int failure_code, size_t offset) {
    if (!in_record) { return fail(failure_code, offset); }
    note(problem_code, offset);
    return true;
}

bool Walker::exceed(const csj_cell &value, int problem_code, int failure_code, size_t offset) {
    if (is_of_envelope(value)) { return fail(failure_code, offset); }
    return exceed(problem_code, failure_code, offset);
}

bool Walker::is_of_envelope(const csj_cell &value) {
    // A value of one place is read to where it stays.
    const csj_cell *cells = envelope.cells.data();
    if (&value >= cells && &value < cells + envelope.cells.size()) { return true; }
    for (size_t at = 0; at < targets.size(); ++at) {
        if (targets[at].arena == &envelope) { return true; }
    }
    for (size_t at = 0; at < hits.size(); ++at) {
        const Hit &hit = hits[at];
        if (hit.arena == &envelope && hit.node->captures < hit.node->captures_end) { return true; }
    }
    return false;
}

bool Walker::has_room(Arena &arena, uint64_t more, size_t offset) {
    if (arena.size() + more <= request.max_cells) { return true; }
    if (&arena == &envelope) {
        fail(CSJ_FAILURE_MAX_CELLS, offset);
    } else {
        note(CSJ_PROBLEM_CELLS, offset);
    }
    return false;
}

bool Walker::start_record(uint32_t offset) {
    if (record_count >= request.max_records) { return fail(CSJ_FAILURE_MAX_RECORDS, offset); }
    ++record_count;
    in_record = true;
    logs_keys = request.duplicate_keys == CSJ_DUPLICATES_REJECT;
    problem = CSJ_PROBLEM_NONE;
    problem_offset = 0;
    record.clear();
    if (make_instance(record, request.plan, offset) == no_instance) {
        // A limit below what the plan itself needs: every record would be refused, so say it of the page.
        return fail(CSJ_FAILURE_MAX_CELLS, offset);
    }
    if (!walked.empty()) { name_record(); }
    return true;
}

bool Walker::found_records(uint32_t offset, int what, Frame *frame) {
    find(what, offset);
    if (what == CSJ_FOUND_ARRAY) { frame->is_record_list = true; }
    if (what == CSJ_FOUND_OBJECT) {
        if (!start_record(offset)) { return false; }
        frame->is_record = true;
    }
    return true;
}

bool Walker::capture_container(Frame &frame) {
    // Records among the hits (of a list's element, or of the whole document) take the extent of the container.
    if (frame.is_record) { opens.push({Open::instance, &record, 0}); }
    for (size_t at = 0; at < targets.size(); ++at) {
        const Collector target = targets[at];
        csj_cell cell{};
        cell.offset = frame.offset;
        cell.kind = CSJ_RAW;
        if (frame.is_object) {
            uint32_t instance = nested_instance(*target.arena, target.plan, frame.offset);
            if (instance == no_instance) {
                if (failure) { return false; }
            } else {
                cell.kind = CSJ_RECORD;
                cell.payload = instance;
            }
        }
        target.arena->items[target.at] = cell;
        opens.push({Open::item, target.arena, target.at});
    }
    // The list grows while it is worked off: a nested plan adds its root.
    for (size_t at = 0; at < hits.size(); ++at) {
        const Hit hit = hits[at];
        for (const Capture *next = hit.node->captures; next < hit.node->captures_end; ++next) {
            const Capture capture = *next;
            uint32_t slot = hit.cells + capture.slot;
            csj_cell cell{};
            cell.offset = frame.offset;
            cell.kind = CSJ_RAW;
            if (capture.kind == CSJ_CAPTURE_LOCATE) {
                if (!found_records(frame.offset, frame.is_object ? CSJ_FOUND_OBJECT : CSJ_FOUND_ARRAY, &frame)) { return false; }
                if (frame.is_record) { opens.push({Open::instance, &record, 0}); }
            } else if (capture.kind == CSJ_CAPTURE_RECORD && frame.is_object) {
                uint32_t instance = nested_instance(*hit.arena, capture.nested, frame.offset);
                if (instance == no_instance) {
                    if (failure) { return false; }
                    continue;
                }
                cell.kind = CSJ_RECORD;
                cell.payload = instance;
            } else if (capture.kind == CSJ_CAPTURE_RECORD) {
                cell.kind = CSJ_ARRAY;
                cell.payload = uint64_t(CSJ_NO_ITEM) << 32 | CSJ_NO_ITEM;
                collectors.push({hit.arena, capture.nested, slot});
            }
            hit.arena->cells[slot] = cell;
            opens.push({Open::cell, hit.arena, slot});
        }
        if (hit.node->each) { walk_over(frame, hit); }
        bool collects = hit.node->is_root && hit.node->plan->collects_unknown_keys;
        if (frame.is_object ? hit.node->has_keys() || collects : hit.node->has_elements()) {
            actives.push({hit, 0, uint32_t(marks.size())});
            if (hit.node->key_count > 64) { marks.extend_with_zero(hit.node->key_count - 64); }
        }
    }
    return true;
}

uint32_t Walker::make_instance(Arena &arena, const csj_plan *plan, uint32_t offset) {
    if (!has_room(arena, plan->slot_count + 2, offset)) { return no_instance; }
    uint32_t at = uint32_t(arena.instances.size());
    csj_instance instance{};
    instance.plan = plan;
    instance.slots = plan->direct_slots.data();
    instance.field_count = uint32_t(plan->direct_slots.size());
    instance.cells = uint32_t(arena.cells.size());
    instance.offset = offset;
    instance.first_unknown = instance.last_unknown = CSJ_NO_ITEM;
    arena.instances.push(instance);
    arena.cells.extend_with_zero(plan->slot_count);
    hits.push({&arena, plan->root(), at, instance.cells});
    return at;
}

uint32_t Walker::nested_instance(Arena &arena, const csj_plan *plan, uint32_t offset) {
    const Node *root = plan->root();
    for (size_t at = 0; at < hits.size(); ++at) {
        if (hits[at].node == root && hits[at].arena == &arena) { return hits[at].instance; }
    }
    uint32_t at = make_instance(arena, plan, offset);
    if (at != no_instance) { opens.push({Open::instance, &arena, at}); }
    return at;
}

/// The key of a wanted value stands in its object once more.
bool Walker::match_again(const Hit &active, const Node *child, uint32_t offset) {
    Arena &arena = *active.arena;
    if (request.duplicate_keys == CSJ_DUPLICATES_FIRST) { return true; }
    if (&arena == &envelope && (active.node->plan == request.locator || request.duplicate_keys == CSJ_DUPLICATES_REJECT)) {
        // Paging by one of two cursors, or records already handed out that do not count: neither can be put right later.
        return fail(CSJ_FAILURE_AMBIGUOUS_ENVELOPE, offset);
    }
    if (request.duplicate_keys == CSJ_DUPLICATES_REJECT) {
        note(CSJ_PROBLEM_DUPLICATE_KEY, offset);
        return true;
    }
    // The last one counts, and nothing of what was below the one before.
    for (uint32_t slot = child->slots; slot < child->slots_end; ++slot) { arena.cells[active.cells + slot] = csj_cell{}; }
    hits.push({active.arena, child, active.instance, active.cells});
    return true;
}

/// Whether the key has been there before in this object; from now on it has.
bool Walker::mark(Active &active, uint32_t number) {
    if (number < 64) {
        bool before = active.seen >> number & 1;
        active.seen |= uint64_t(1) << number;
        return before;
    }
    uint8_t &place = marks[active.marks + number - 64];
    bool before = place;
    place = 1;
    return before;
}

/// What the next element of an array is wanted for.
bool Walker::add_elements(const Frame &frame, uint32_t element) {
    for (size_t at = frame.actives; at < actives.size(); ++at) {
        const Hit &active = actives[at].hit;
        if (const Node *node = active.node->element(element)) { hits.push({active.arena, node, active.instance, active.cells}); }
    }
    for (size_t at = frame.collectors; at < collectors.size(); ++at) {
        const Collector &collector = collectors[at];
        uint32_t item;
        csj_cell empty{};
        if (!add_to_array(*collector.arena, collector.at, empty, item)) { return false; }
        if (item != CSJ_NO_ITEM) { targets.push({collector.arena, collector.plan, item}); }
    }
    return true;
}

/// The string decoded into the arena's own buffer.
csj_cell Walker::in_scratch(Arena &arena, csj_cell value) {
    size_t start = arena.scratch.size();
    const uint8_t *text = body + value.offset + 1;
    size_t raw_length = value.length - 2;
    uint8_t *target = arena.scratch.extend(raw_length);
    Decoded decoded = decode_string(text, text + raw_length, target, request.nul_in_text == CSJ_NUL_STRIP);
    arena.scratch.drop_to(start + decoded.length);
    value.flags = CSJ_IN_SCRATCH;
    value.payload = start;
    value.count = uint32_t(decoded.length);
    return value;
}

bool Walker::add_item(Arena &arena, csj_cell item, uint32_t &at) {
    at = CSJ_NO_ITEM;
    if (!has_room(arena, 1, token_offset())) { return failure == CSJ_FAILURE_NONE; }
    at = uint32_t(arena.items.size());
    arena.items.push(item);
    arena.next_item.push(CSJ_NO_ITEM);
    return true;
}

bool Walker::add_to_array(Arena &arena, uint32_t cell, csj_cell item, uint32_t &at) {
    if (!add_item(arena, item, at)) { return false; }
    if (at == CSJ_NO_ITEM) { return true; }
    csj_cell &array = arena.cells[cell];
    uint32_t last = uint32_t(array.payload >> 32);
    uint32_t first = uint32_t(array.payload);
    if (last == CSJ_NO_ITEM) {
        first = at;
    } else {
        arena.next_item[last] = at;
    }
    array.payload = uint64_t(at) << 32 | first;
    ++array.count;
    return true;
}

bool Walker::add_unknown_key(const Hit &active, uint32_t offset, uint32_t end, bool is_escaped) {
    csj_cell key{};
    key.kind = CSJ_STRING;
    key.offset = offset;
    key.length = end - offset;
    key.payload = offset + 1;
    key.count = key.length - 2;
    Arena &arena = *active.arena;
    if (is_escaped) { key = in_scratch(arena, key); }
    uint32_t at;
    if (!add_item(arena, key, at)) { return false; }
    if (at == CSJ_NO_ITEM) { return true; }
    csj_instance &instance = arena.instances[active.instance];
    if (instance.last_unknown == CSJ_NO_ITEM) {
        instance.first_unknown = at;
    } else {
        arena.next_item[instance.last_unknown] = at;
    }
    instance.last_unknown = at;
    ++instance.unknown_count;
    return true;
}

}  // namespace csj
