/// A libFuzzer target: the JSON walker of CSimdJSON against libsimdjson's DOM parser, which shares its first stage and nothing else.
/// `Scripts/fuzz-json` builds and runs it.
///
/// The first eight bytes of an input say how to read (see `Setting`), the rest is the document. It is walked twice, each time with another
/// window: once in a heap block of exactly its size, where AddressSanitizer sees a read beyond its end, and once right before a page that
/// cannot be read, where libsimdjson, which is not instrumented, cannot read beyond its end either. Both walks must come to the same, and
/// everything they hand out must be what the DOM says.
///
/// Then the record cutter has its turn (`Cutting.hpp`): what it cuts must come to what the walk over the whole document comes to.
///
/// The DOM parser refuses some documents that the walker takes on purpose. Those are put right first, at the same length (`Document`); then
/// both must agree on every document.
#include <simdjson.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "CSimdJSON.h"
#include "JSONWalker/Comparison.hpp"
#include "JSONWalker/Cutting.hpp"
#include "JSONWalker/Mutation.hpp"

namespace fuzz {

struct Outcome {
    std::vector<std::string> records;
    std::string envelope;
    int failure = CSJ_FAILURE_NONE;
    size_t failure_offset = 0;
    int found = CSJ_FOUND_NOTHING;
    size_t found_offset = 0;
    bool lacks = false;
    size_t lack_offset = 0;
    uint64_t record_count = 0;
};

/// A record with its place and its problem; compared with the DOM unless it is refused, since its cells are incomplete then.
std::string read_record(const csj_view *view, const Tree *tree, const Expectation *expected, const Setting &setting, size_t number) {
    if (view->record_index != number) { differs("record %zu says that it is record %zu", number, size_t(view->record_index)); }
    Dump dump(view, *setting.plan);
    dump.text += std::to_string(view->problem) + " " + std::to_string(view->problem_offset) + " " + std::to_string(view->problem_limit);
    if (!tree) { return std::move(dump.text); }
    if (number >= expected->records.size()) { differs("there is a record more than the %zu of the DOM", expected->records.size()); }
    const uint32_t index = expected->records[number];
    const Value &value = tree->values[index];
    const csj_instance &instance = view->instances[0];
    if (instance.offset != value.offset || instance.length != value.length) {
        differs("record %zu is at %u+%u, expected at %u+%u", number, instance.offset, instance.length, value.offset, value.length);
    }
    const uint32_t name = number < expected->names.size() ? expected->names[number] : none;
    Comparison(view, *tree, false).name(view->member, name);
    const uint32_t name_problems = tree->name_problems(name);
    uint32_t problems = tree->problems(index) | name_problems;
    const bool is_right_shape = value.is_object() || (value.is_array() && setting.plan->wants_elements);
    if (setting.locator && !is_right_shape) { problems |= 1u << CSJ_PROBLEM_NOT_AN_OBJECT; }
    const uint32_t allowed = problems | (setting.request.max_cells < enough_cells ? 1u << CSJ_PROBLEM_CELLS : 0);
    if (view->problem == CSJ_PROBLEM_NONE) {
        if (problems) { differs("record %zu is accepted in spite of problems %x", number, problems); }
        Comparison(view, *tree, false).instance(0, *setting.plan, index);
    } else {
        if (!(allowed >> view->problem & 1)) { differs("record %zu is refused for %d, expected was %x", number, view->problem, problems); }
        const bool is_inside = view->problem_offset >= value.offset && view->problem_offset < uint64_t(value.offset) + value.length;
        const uint64_t from_name = name == none ? UINT64_MAX : view->problem_offset - tree->values[name].key_offset;
        const bool is_in_name = name_problems && name != none && from_name < tree->values[name].key_length;
        if (!is_inside && !is_in_name) {
            differs("the problem of record %zu is at %zu, outside of it", number, size_t(view->problem_offset));
        }
    }
    return std::move(dump.text);
}

Outcome walk(csj_reader *reader, const csj_request &request, const Setting &setting, const Tree *tree, const Expectation *expected) {
    Outcome outcome;
    const csj_view *view = csj_reader_record_view(reader);
    int step = csj_reader_begin(reader, &request) ? CSJ_STEP_RECORD : CSJ_STEP_FAILED;
    while (step == CSJ_STEP_RECORD) {
        const uint64_t generation = view->generation;
        step = csj_reader_step(reader);
        if (view->generation == generation) { differs("the generation of the view stays the same"); }
        if (step == CSJ_STEP_RECORD) { outcome.records.push_back(read_record(view, tree, expected, setting, outcome.records.size())); }
    }
    outcome.failure = csj_reader_failure(reader, &outcome.failure_offset);
    outcome.found = csj_reader_found(reader, &outcome.found_offset);
    outcome.lacks = csj_reader_lacks(reader, &outcome.lack_offset);
    outcome.record_count = csj_reader_record_count(reader);
    if ((step == CSJ_STEP_FAILED) != (outcome.failure != CSJ_FAILURE_NONE)) { differs("step %d with failure %d", step, outcome.failure); }
    if (outcome.failure_offset > request.length) { differs("a failure at %zu, beyond the end", outcome.failure_offset); }
    if (step == CSJ_STEP_END && setting.envelope) {
        const csj_view *envelope = csj_reader_envelope_view(reader);
        outcome.envelope = Dump(envelope, *setting.envelope).text;
        if (tree) { Comparison(envelope, *tree, true).instance(0, *setting.envelope, 0); }
    }
    csj_reader_end(reader);
    if (view->body || view->cells) { differs("the view of a record outlives its page"); }
    return outcome;
}

/// Whether the DOM agrees that the page must be accepted, or refused for this.
void check_outcome(const Outcome &outcome, const Tree *tree, const Expectation *expected, const Setting &setting) {
    if (!tree) {
        if (outcome.failure == CSJ_FAILURE_NONE) { differs("the walker accepts what the DOM parser refuses"); }
        return;
    }
    const csj_request &request = setting.request;
    const bool has_few_cells = request.max_cells < enough_cells;
    auto outside = [&](int problem) { return (expected->outside >> problem & 1) != 0; };
    bool is_justified = false;
    switch (outcome.failure) {
        case CSJ_FAILURE_NONE: {
            bool is_exceeded = expected->depth > request.max_depth || expected->records.size() > request.max_records;
            is_exceeded |= outside(CSJ_PROBLEM_STRING_LENGTH) || outside(CSJ_PROBLEM_KEY_LENGTH) || outside(CSJ_PROBLEM_NUMBER_DIGITS);
            if (is_exceeded || expected->is_ambiguous) { differs("the walker accepts what is over a limit, or ambiguous"); }
            if (outcome.found != expected->found || outcome.found_offset != expected->found_offset) {
                differs("found %d at %zu, expected %d at %zu", outcome.found, outcome.found_offset, expected->found, expected->found_offset);
            }
            if (outcome.lacks != expected->lacks || outcome.lack_offset != expected->lack_offset) {
                differs("lacks %d at %zu, expected %d at %zu", outcome.lacks, outcome.lack_offset, expected->lacks, expected->lack_offset);
            }
            if (outcome.records.size() != expected->records.size() || outcome.record_count != expected->records.size()) {
                differs("%zu records, expected %zu", outcome.records.size(), expected->records.size());
            }
            return;
        }
        case CSJ_FAILURE_MAX_DEPTH: is_justified = expected->depth > request.max_depth; break;
        case CSJ_FAILURE_MAX_STRING: is_justified = outside(CSJ_PROBLEM_STRING_LENGTH); break;
        case CSJ_FAILURE_MAX_KEY: is_justified = outside(CSJ_PROBLEM_KEY_LENGTH); break;
        case CSJ_FAILURE_MAX_NUMBER_DIGITS: is_justified = outside(CSJ_PROBLEM_NUMBER_DIGITS); break;
        case CSJ_FAILURE_MAX_RECORDS: is_justified = expected->records.size() > request.max_records; break;
        case CSJ_FAILURE_MAX_CELLS: is_justified = has_few_cells; break;
        case CSJ_FAILURE_AMBIGUOUS_ENVELOPE: is_justified = expected->is_ambiguous; break;
        default: break;
    }
    if (!is_justified) { differs("the walker refuses (%d at %zu) what the DOM parser accepts", outcome.failure, outcome.failure_offset); }
}

/// What a failure says of the document itself, and not of a limit, may depend on the window if the document has several faults: each
/// window is first searched for broken strings and UTF-8, and only then walked.
bool is_of_the_document(int failure) { return failure <= CSJ_FAILURE_TRAILING_DATA; }

void check_same(const Outcome &one, const Outcome &other) {
    size_t common = std::min(one.records.size(), other.records.size());
    if (!std::equal(one.records.begin(), one.records.begin() + common, other.records.begin())) { differs("the records depend on the window"); }
    const bool have_failed = one.failure != CSJ_FAILURE_NONE && other.failure != CSJ_FAILURE_NONE;
    if (have_failed && (is_of_the_document(one.failure) || is_of_the_document(other.failure))) { return; }
    if (one.failure != other.failure || one.failure_offset != other.failure_offset) {
        differs("the failure depends on the window: %d at %zu, %d at %zu", one.failure, one.failure_offset, other.failure, other.failure_offset);
    }
    if (one.records.size() != other.records.size() || one.record_count != other.record_count || one.envelope != other.envelope ||
        one.found != other.found || one.found_offset != other.found_offset || one.lacks != other.lacks || one.lack_offset != other.lack_offset) {
        differs("the outcome depends on the window");
    }
}

/// A copy of the bytes whose end is the end of the readable memory.
const uint8_t *before_the_wall(const uint8_t *bytes, size_t length) {
    static uint8_t *const wall = [] {
        const size_t page = size_t(sysconf(_SC_PAGESIZE));
        void *room = mmap(nullptr, longest_document + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        uint8_t *end = static_cast<uint8_t *>(room) + longest_document;
        if (room == MAP_FAILED || mprotect(end, page, PROT_NONE) != 0) {
            perror("JSONWalkerFuzzer: no memory for the wall");
            exit(1);
        }
        return end;
    }();
    if (length) { memcpy(wall - length, bytes, length); }
    return wall - length;
}

}  // namespace fuzz

using namespace fuzz;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/// libFuzzer by itself makes hardly any document that is JSON: mostly the change is one that keeps it so, and now and then one that just does not.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    static unsigned state;
    state = seed | 1;
    auto random = [](unsigned below) {
        state = state * 1664525 + 1013904223;
        return unsigned((uint64_t(state >> 8) * below) >> 24);
    };
    if (size < header_length || random(4) == 0) { return LLVMFuzzerMutate(data, size, most); }
    std::string text(reinterpret_cast<const char *>(data), size);
    for (unsigned left = 1 + random(3); left > 0; --left) { change(text, random); }
    if (random(8) == 0) { damage(text, random); }
    if (text.size() > most) { return LLVMFuzzerMutate(data, size, most); }
    memcpy(data, text.data(), text.size());
    return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < header_length || size - header_length > longest_document) { return 0; }
    input = data;
    input_length = size;
    const Setting setting(data);
    const size_t length = size - header_length;
    const std::string_view original(reinterpret_cast<const char *>(data) + header_length, length);

    const Document document(original);
    static simdjson::dom::parser *const parser = [] {
        auto made = new simdjson::dom::parser;
        if (made->allocate(longest_document, longest_document)) { abort(); }
        return made;
    }();
    element root;
    const simdjson::error_code error = parser->parse(document.text.data(), length).get(root);
    if (error == simdjson::MEMALLOC || error == simdjson::CAPACITY) { differs("the DOM parser gives up: %s", simdjson::error_message(error)); }
    std::unique_ptr<Tree> tree;
    std::unique_ptr<Expectation> expected;
    if (!error) {
        tree.reset(new Tree(root, setting, document, original));
        expected.reset(new Expectation(*tree));
    }

    // A reader of its own for each input: it starts with small buffers, so that reads beyond them are seen, and a finding can be repeated.
    csj_reader *reader = csj_reader_create();
    const std::unique_ptr<uint8_t[]> block(new uint8_t[length]);
    if (length) { memcpy(block.get(), original.data(), length); }
    csj_request request = setting.request;
    request.body = block.get();
    request.length = length;
    request.window = setting.windows[0];
    if (tree && !csj_is_utf8(request.body, length)) { differs("not UTF-8, but the DOM parser accepts it"); }
    if (setting.abandons && csj_reader_begin(reader, &request)) {
        csj_reader_step(reader);
        csj_reader_end(reader);
    }
    const Outcome first = walk(reader, request, setting, tree.get(), expected.get());
    check_outcome(first, tree.get(), expected.get(), setting);

    request.body = before_the_wall(block.get(), length);
    request.window = setting.windows[1];
    const Outcome second = walk(reader, request, setting, tree.get(), expected.get());
    check_outcome(second, tree.get(), expected.get(), setting);
    check_same(first, second);
    check_cutting(reader, original, setting);
    csj_reader_destroy(reader);
    return 0;
}
