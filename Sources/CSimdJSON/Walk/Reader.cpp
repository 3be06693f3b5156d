#include <new>
#include <stdexcept>

#include "CSimdJSON.h"
#include "Walker.hpp"

struct csj_reader {
    csj::Walker walker;
};

/// No C++ exception may reach Swift; the only ones there are say that memory has run out.
template <typename Body>
static int guarded(csj_reader *reader, Body body) {
    try {
        return body();
    } catch (const std::bad_alloc &) {
    } catch (const std::length_error &) {
    }
    reader->walker.failure = CSJ_FAILURE_OUT_OF_MEMORY;
    reader->walker.failure_offset = 0;
    return 0;
}

extern "C" {

csj_reader *csj_reader_create(void) {
    try {
        return new csj_reader;
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void csj_reader_destroy(csj_reader *reader) { delete reader; }

int csj_reader_begin(csj_reader *reader, const csj_request *request) {
    return guarded(reader, [&]() -> int { return reader->walker.begin(*request); });
}

int csj_reader_step(csj_reader *reader) {
    return guarded(reader, [&]() -> int { return reader->walker.step(); });
}

void csj_reader_end(csj_reader *reader) { reader->walker.end(); }

void csj_reader_trim(csj_reader *reader) { reader->walker.trim(); }

const csj_view *csj_reader_record_view(const csj_reader *reader) { return reader->walker.record.view; }

const csj_view *csj_reader_envelope_view(const csj_reader *reader) { return reader->walker.envelope.view; }

int csj_reader_failure(const csj_reader *reader, size_t *offset) {
    *offset = reader->walker.failure_offset;
    return reader->walker.failure;
}

int csj_reader_found(const csj_reader *reader, size_t *offset) {
    *offset = reader->walker.found_offset;
    return reader->walker.found;
}

int csj_reader_lacks(const csj_reader *reader, size_t *offset) {
    *offset = reader->walker.lack_offset;
    return reader->walker.lacks;
}

int csj_reader_walked(const csj_reader *reader) { return reader->walker.has_walked; }

uint64_t csj_reader_record_count(const csj_reader *reader) { return reader->walker.record_count; }

}  // extern "C"
