#ifndef CSJ_FUZZ_CUTTING_HPP
#define CSJ_FUZZ_CUTTING_HPP

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "Setting.hpp"

namespace fuzz {

// MARK: The record cutter, against the walker over the whole document

/// All that comes of a document by cutting it.
struct Cuts {
    std::vector<std::string> records;
    std::vector<uint64_t> hashes, offsets;
    std::string envelope;
    int failure = CSJ_FAILURE_NONE, status = CSJ_CUTTER_LOOKING;
    uint64_t failure_offset = 0, left_out[2] = {0, 0};

    bool operator==(const Cuts &other) const {
        return records == other.records && hashes == other.hashes && offsets == other.offsets && envelope == other.envelope &&
               failure == other.failure && status == other.status && failure_offset == other.failure_offset &&
               left_out[0] == other.left_out[0] && left_out[1] == other.left_out[1];
    }

    /// Each chunk is a heap block of its own, which is gone when the next one comes.
    Cuts(std::string_view text, const csj_cutting &cutting, size_t chunk_size) {
        csj_cutter *cutter = csj_cutter_create(&cutting);
        bool has_failed = false;
        for (size_t start = 0; start < text.size() && !has_failed; start += chunk_size) {
            const std::string_view piece = text.substr(start, chunk_size);
            const std::unique_ptr<uint8_t[]> chunk(new uint8_t[piece.size()]);
            memcpy(chunk.get(), piece.data(), piece.size());
            csj_cutter_feed(cutter, chunk.get(), piece.size());
            csj_cut cut{};
            int step;
            while ((step = csj_cutter_next(cutter, &cut)) == CSJ_CUT_RECORD) {
                records.emplace_back(reinterpret_cast<const char *>(cut.bytes), cut.length);
                hashes.push_back(cut.hash);
                offsets.push_back(cut.offset);
                if (cut.hash != csj_hash(cut.bytes, cut.length).low) { differs("another hash than that of the bytes"); }
                if (text.substr(cut.offset, cut.length) != records.back()) { differs("a record is not what stands at its place"); }
            }
            has_failed = step == CSJ_CUT_FAILED;
        }
        const bool has_finished = csj_cutter_finish(cutter);
        if (has_failed && has_finished) { differs("the cutter fails and finishes"); }
        failure = csj_cutter_failure(cutter, &failure_offset);
        if (has_finished != (failure == CSJ_FAILURE_NONE)) { differs("the cutter ends with %d and failure %d", has_finished, failure); }
        if (failure_offset > text.size()) { differs("the cutter fails beyond the end"); }
        if (has_finished) {
            status = csj_cutter_status(cutter);
            size_t length;
            const uint8_t *bytes = csj_cutter_envelope(cutter, &length);
            if (length) { envelope.assign(reinterpret_cast<const char *>(bytes), length); }
            csj_cutter_left_out(cutter, &left_out[0], &left_out[1]);
            std::string rest(text);
            if (rest.erase(left_out[0], left_out[1] - left_out[0]) != envelope) { differs("the envelope is not what is around the list"); }
        }
        csj_cutter_destroy(cutter);
    }
};

/// What a walk hands out, as the bytes and the problem of each record.
struct Walk {
    bool is_accepted = false;
    int found = CSJ_FOUND_NOTHING;
    std::vector<std::string> records;

    Walk(csj_reader *reader, const csj_request &request) {
        int step = csj_reader_begin(reader, &request) ? CSJ_STEP_RECORD : CSJ_STEP_FAILED;
        while (step == CSJ_STEP_RECORD && (step = csj_reader_step(reader)) == CSJ_STEP_RECORD) {
            const csj_view *view = csj_reader_record_view(reader);
            const csj_instance &instance = view->instances[0];
            records.push_back(std::to_string(view->problem) + " " +
                              std::string(reinterpret_cast<const char *>(view->body) + instance.offset, instance.length));
        }
        is_accepted = step == CSJ_STEP_END;
        size_t offset;
        found = csj_reader_found(reader, &offset);
        csj_reader_end(reader);
    }
};

inline csj_request over(std::string_view text, csj_request request) {
    request.body = reinterpret_cast<const uint8_t *>(text.data());
    request.length = text.size();
    return request;
}

/// Where there may be several lists nothing is cut.
inline void check_undecided(std::string_view text, const Setting &setting) {
    const std::vector<csj_segment> path = setting.locator->fields[0].paths[0].compiled();
    csj_cutting cutting{};
    cutting.path = path.data();
    cutting.path_length = path.size();
    cutting.max_records = setting.request.max_records;
    for (size_t window : {setting.windows[0], size_t(0)}) {
        const Cuts cuts(text, cutting, window ? window : text.size() + 1);
        if (cuts.status != CSJ_CUTTER_UNDECIDED || cuts.envelope != text || !cuts.records.empty()) { differs("a path with a wildcard is cut"); }
    }
}

/// Cutter, envelope and records must come to what the walk over the whole comes to, however the document is cut into chunks and whatever
/// brackets are found with.
inline void check_cutting(csj_reader *reader, std::string_view text, const Setting &setting) {
    if (!setting.locator) { return; }
    if (setting.locator->fields[0].paths[0].has_wildcard()) { return check_undecided(text, setting); }
    const bool is_at_root = setting.locator == &plans().at_root;
    csj_request request = setting.request;
    // The envelope's plan has fields in `data`; with them there would be nothing to cut.
    if (!is_at_root) { request.envelope = nullptr; }
    const Walk whole(reader, over(text, request));

    const csj_segment data{reinterpret_cast<const uint8_t *>("data"), 4, 0};
    csj_cutting cutting{};
    cutting.path = &data;
    cutting.path_length = is_at_root ? 0 : 1;
    cutting.max_records = request.max_records;
    cutting.instructions = CSJ_CUT_PLAIN;
    auto size = [&](size_t window) { return window ? window : text.size() + 1; };
    const Cuts cuts(text, cutting, size(setting.windows[0]));
    for (int instructions : {CSJ_CUT_PLAIN, CSJ_CUT_SSE2, CSJ_CUT_AVX2}) {
        if (!csj_cutter_supports(instructions)) { continue; }
        cutting.instructions = instructions;
        for (size_t window : {setting.windows[0], setting.windows[1], size_t(0)}) {
            if (!(Cuts(text, cutting, size(window)) == cuts)) { differs("with instructions %d and chunks of %zu other cuts", instructions, window); }
        }
    }

    if (cuts.failure) {
        if (whole.is_accepted) { differs("the cutter refuses (%d at %zu) what the walker accepts", cuts.failure, size_t(cuts.failure_offset)); }
        return;
    }
    const Walk envelope(reader, over(cuts.envelope, request));
    if (cuts.status == CSJ_CUTTER_UNDECIDED || cuts.status == CSJ_CUTTER_LOOKING) {
        if (cuts.envelope != text || !cuts.records.empty()) { differs("the cutter is undecided, and has cut something"); }
        if (whole.is_accepted && whole.found == CSJ_FOUND_ARRAY) { differs("the cutter is undecided about a list"); }
        return;
    }
    if (cuts.status != CSJ_CUTTER_CUT) { differs("the cutter ends with status %d", cuts.status); }
    std::string list = "[";
    for (const std::string &record : cuts.records) { list += (list.size() > 1 ? "," : "") + record; }
    list += "]";
    request.locator = plans().at_root.compiled;
    request.envelope = nullptr;
    request.max_records = UINT64_MAX;
    if (request.max_depth != UINT64_MAX) { request.max_depth -= std::min(request.max_depth, uint64_t(cutting.path_length)); }
    const Walk records(reader, over(list, request));
    const bool is_accepted = envelope.is_accepted && records.is_accepted;
    if (is_accepted != whole.is_accepted) { differs("cut, the document is %s, whole it is not", is_accepted ? "accepted" : "refused"); }
    if (!is_accepted) { return; }
    if (envelope.found != CSJ_FOUND_ARRAY || !envelope.records.empty()) { differs("there is more in the envelope than an empty list"); }
    if (records.records != whole.records || cuts.records.size() != whole.records.size()) { differs("other records are cut than are there"); }
    for (size_t at = 0; at < cuts.records.size(); ++at) {
        const std::string &record = records.records[at];
        if (record.substr(record.find(' ') + 1) != cuts.records[at]) { differs("record %zu is read otherwise than it is cut", at); }
    }
}

}  // namespace fuzz

#endif
