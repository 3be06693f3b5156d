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
    return true;
}

bool Walker::found_records(uint32_t offset, int what, Frame *frame) {
    found = what;
    found_offset = offset;
    if (what == CSJ_FOUND_ARRAY) { frame->is_record_list = true; }
    if (what == CSJ_FOUND_OBJECT) {
        if (!start_record(offset)) { return false; }
        frame->is_record = true;
    }
    return true;
}

bool Walker::capture_container(Frame &frame) {
    // Records among the hits (of a list's element, or of the whole document) take the extent of the container.
    if (frame.is_record) { opens.push_back({Open::instance, &record, 0}); }
    for (const Collector &target : targets) {
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
        opens.push_back({Open::item, target.arena, target.at});
    }
    // The list grows while it is worked off: a nested plan adds its root.
    for (size_t at = 0; at < hits.size(); ++at) {
        const Hit hit = hits[at];
        for (uint32_t next = hit.node->captures; next < hit.node->captures_end; ++next) {
            const Capture capture = hit.plan->captures[next];
            uint32_t slot = hit.arena->instances[hit.instance].cells + capture.slot;
            csj_cell cell{};
            cell.offset = frame.offset;
            cell.kind = CSJ_RAW;
            if (capture.kind == CSJ_CAPTURE_LOCATE) {
                if (!found_records(frame.offset, frame.is_object ? CSJ_FOUND_OBJECT : CSJ_FOUND_ARRAY, &frame)) { return false; }
                if (frame.is_record) { opens.push_back({Open::instance, &record, 0}); }
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
                collectors.push_back({hit.arena, capture.nested, slot});
            }
            hit.arena->cells[slot] = cell;
            opens.push_back({Open::cell, hit.arena, slot});
        }
        bool goes_on = frame.is_object ? hit.node->has_keys || (hit.node->id == 0 && hit.plan->collects_unknown_keys)
                                       : hit.node->elements < hit.node->elements_end;
        if (goes_on) { actives.push_back(hit); }
    }
    return true;
}

uint32_t Walker::make_instance(Arena &arena, const csj_plan *plan, uint32_t offset) {
    if (!has_room(arena, plan->slot_count + 2, offset)) { return no_instance; }
    uint32_t at = uint32_t(arena.instances.size());
    csj_instance instance{};
    instance.plan = plan;
    instance.cells = uint32_t(arena.cells.size());
    instance.seen = uint32_t(arena.seen.size());
    instance.offset = offset;
    instance.first_unknown = instance.last_unknown = CSJ_NO_ITEM;
    arena.instances.push_back(instance);
    arena.cells.resize(arena.cells.size() + plan->slot_count);
    arena.seen.resize(arena.seen.size() + plan->nodes.size());
    hits.push_back({&arena, plan, &plan->nodes[0], at});
    return at;
}

uint32_t Walker::nested_instance(Arena &arena, const csj_plan *plan, uint32_t offset) {
    const Node *root = &plan->nodes[0];
    for (const Hit &hit : hits) {
        if (hit.node == root && hit.arena == &arena) { return hit.instance; }
    }
    uint32_t at = make_instance(arena, plan, offset);
    if (at != no_instance) { opens.push_back({Open::instance, &arena, at}); }
    return at;
}

bool Walker::match(const Hit &active, uint64_t hash, const uint8_t *key, size_t length, uint32_t offset, bool is_escaped) {
    const Node *child = active.node->has_keys ? active.plan->child(*active.node, hash, key, length) : nullptr;
    if (!child) {
        if (active.node->id != 0 || !active.plan->collects_unknown_keys) { return true; }
        return add_unknown_key(active, offset, is_escaped);
    }
    Arena &arena = *active.arena;
    csj_instance &instance = arena.instances[active.instance];
    uint8_t *seen = arena.seen.data() + instance.seen;
    if (seen[child->id]) {
        bool is_locator = active.plan == request.locator;
        if (request.duplicate_keys == CSJ_DUPLICATES_FIRST) { return true; }
        if (&arena == &envelope && (is_locator || request.duplicate_keys == CSJ_DUPLICATES_REJECT)) {
            // Paging by one of two cursors, or records already handed out that do not count: neither can be put right later.
            return fail(CSJ_FAILURE_AMBIGUOUS_ENVELOPE, offset);
        }
        if (request.duplicate_keys == CSJ_DUPLICATES_REJECT) {
            note(CSJ_PROBLEM_DUPLICATE_KEY, offset);
            return true;
        }
        // The last one counts, and nothing of what was below the one before.
        for (uint32_t slot = child->slots; slot < child->slots_end; ++slot) { arena.cells[instance.cells + slot] = csj_cell{}; }
        for (uint32_t node = child->id; node < child->nodes_end; ++node) { seen[node] = 0; }
    }
    seen[child->id] = 1;
    hits.push_back({active.arena, active.plan, child, active.instance});
    return true;
}

bool Walker::add_item(Arena &arena, csj_cell item, uint32_t &at) {
    at = CSJ_NO_ITEM;
    if (!has_room(arena, 1, positions[token])) { return failure == CSJ_FAILURE_NONE; }
    at = uint32_t(arena.items.size());
    arena.items.push_back(item);
    arena.next_item.push_back(CSJ_NO_ITEM);
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

bool Walker::add_unknown_key(const Hit &active, uint32_t offset, bool is_escaped) {
    csj_cell key{};
    key.kind = CSJ_STRING;
    key.offset = offset;
    key.length = token_end(offset) - offset;
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
