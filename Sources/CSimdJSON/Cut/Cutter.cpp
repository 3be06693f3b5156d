#include <new>
#include <stdexcept>

#include "CSimdJSON.h"
#include "RecordCutter.hpp"

struct csj_cutter {
    csj::RecordCutter cutter;
};

extern "C" {

int csj_cutter_supports(int instructions) { return csj::choose_find_end(instructions) != nullptr; }

csj_cutter *csj_cutter_create(const csj_cutting *cutting) {
    const csj::FindEnd find_end = csj::choose_find_end(cutting->instructions);
    if (!find_end) { return nullptr; }
    try {
        return new csj_cutter{{*cutting, find_end}};
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void csj_cutter_destroy(csj_cutter *cutter) { delete cutter; }

void csj_cutter_pass(csj_cutter *cutter) { cutter->cutter.pass(); }

void csj_cutter_feed(csj_cutter *cutter, const uint8_t *bytes, size_t length) { cutter->cutter.feed(bytes, length); }

int csj_cutter_next(csj_cutter *cutter, csj_cut *cut) {
    try {
        return cutter->cutter.next(*cut);
    } catch (const std::bad_alloc &) {
        return cutter->cutter.fail(CSJ_FAILURE_OUT_OF_MEMORY, 0);
    }
}

int csj_cutter_finish(csj_cutter *cutter) { return cutter->cutter.finish(); }

int csj_cutter_failure(const csj_cutter *cutter, uint64_t *offset) {
    *offset = cutter->cutter.failure_offset;
    return cutter->cutter.failure;
}

int csj_cutter_status(const csj_cutter *cutter) { return cutter->cutter.status(); }

const uint8_t *csj_cutter_envelope(const csj_cutter *cutter, size_t *length) {
    *length = cutter->cutter.envelope.size();
    return cutter->cutter.envelope.data();
}

void csj_cutter_left_out(const csj_cutter *cutter, uint64_t *start, uint64_t *end) {
    const csj::RecordCutter &from = cutter->cutter;
    const bool is_cut = from.list_end != csj::RecordCutter::no_list;
    *start = is_cut ? from.list_start : 0;
    *end = is_cut ? from.list_end : 0;
}

}  // extern "C"
