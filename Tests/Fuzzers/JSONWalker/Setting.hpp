#ifndef CSJ_FUZZ_SETTING_HPP
#define CSJ_FUZZ_SETTING_HPP

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "CSimdJSON.h"

namespace fuzz {

constexpr size_t header_length = 8;
constexpr size_t longest_document = 1 << 16;
constexpr uint32_t none = UINT32_MAX;

inline const uint8_t *input;
inline size_t input_length;

/// Says what differs and of which document, and ends the process, which is how libFuzzer learns of it.
[[noreturn]] inline __attribute__((format(printf, 1, 2))) void differs(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("\nJSONWalkerFuzzer: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nhow to read: %.*s\ndocument (%zu bytes): ", int(header_length), reinterpret_cast<const char *>(input),
            input_length - header_length);
    for (size_t at = header_length; at < input_length; ++at) {
        uint8_t byte = input[at];
        fprintf(stderr, byte >= 0x20 && byte < 0x7F ? "%c" : "<%02X>", byte);
    }
    fputc('\n', stderr);
    abort();
}

// MARK: Plans

struct Each {};

/// A key or, with `index` not negative, an array index (and the key with the same digits, `key`), or every child.
struct Segment {
    std::string key;
    int index = -1;
    bool is_each = false;
    Segment(const char *key) : key(key) {}
    Segment(int index) : key(std::to_string(index)), index(index) {}
    Segment(Each) : is_each(true) {}
};

struct Path {
    std::vector<Segment> segments;
    Path(std::initializer_list<Segment> segments) : segments(segments) {}

    bool has_wildcard() const {
        return std::any_of(segments.begin(), segments.end(), [](const Segment &segment) { return segment.is_each; });
    }

    /// As the walker takes it, for as long as the path stays.
    std::vector<csj_segment> compiled() const {
        std::vector<csj_segment> steps;
        for (const Segment &segment : segments) {
            const bool is_key = segment.index < 0 && !segment.is_each;
            steps.push_back({is_key ? reinterpret_cast<const uint8_t *>(segment.key.data()) : nullptr, is_key ? segment.key.size() : 0,
                             segment.index < 0 ? 0 : uint32_t(segment.index), segment.is_each});
        }
        return steps;
    }
};

struct Plan;

struct Field {
    std::vector<Path> paths;
    int capture = CSJ_CAPTURE_VALUE;
    const Plan *nested = nullptr;
};

/// A plan as the walker has it, and as the comparison needs it.
struct Plan {
    csj_plan *const compiled = csj_plan_create();
    std::vector<Field> fields;
    std::set<std::string, std::less<>> first_keys;
    bool collects_unknown_keys = false;
    bool wants_elements = false;

    void define(std::vector<Field> all, bool collects) {
        fields = std::move(all);
        collects_unknown_keys = collects;
        for (const Field &field : fields) {
            csj_plan_add_field(compiled);
            for (const Path &path : field.paths) {
                const std::vector<csj_segment> segments = path.compiled();
                csj_plan_add_path(compiled, segments.data(), segments.size(), field.capture, field.nested ? field.nested->compiled : nullptr);
                if (path.segments.empty()) { continue; }
                first_keys.insert(path.segments[0].key);
                wants_elements |= path.segments[0].index >= 0;
            }
        }
        if (collects) { csj_plan_collect_unknown_keys(compiled); }
        csj_plan_seal(compiled);
    }
};

/// Made once: a sealed plan does not change. Only one field of a plan leads to the plan itself by any one key; otherwise what is read of a
/// deep document would double with each level.
struct Plans {
    Plan person, pet, record, wide_record, envelope, at_root, at_data;
    /// With wildcards.
    Plan at_each, at_each_datum, at_each_kid, at_each_of_each, at_each_next;

    Plans() {
        pet.define({{{{"id"}}}, {{{"tags"}}, CSJ_CAPTURE_RAW}, {{{"n", "id"}}}}, false);
        person.define({{{{"id"}}},
                       {{{"name"}}},
                       {{{"b", "c"}, {"a"}}},
                       {{{"tags", 1}}},
                       {{{"tags"}}, CSJ_CAPTURE_RAW},
                       {{{"n"}}, CSJ_CAPTURE_RECORD, &person},
                       {{{"kids"}}, CSJ_CAPTURE_RECORD, &person}},
                      true);
        std::vector<Field> fields = {{{{"id"}}},
                                     {{{"name"}}},
                                     {{{"a"}, {"b", "c"}, {"name"}}},
                                     {{{"tags", 1}}},
                                     {{{"tags", 0, "id"}}},
                                     {{{"raw"}}, CSJ_CAPTURE_RAW},
                                     {{{"kids"}, {"n"}}, CSJ_CAPTURE_RAW},
                                     {{{"n"}}},
                                     {{{"n", "id"}}},
                                     {{{"n"}}, CSJ_CAPTURE_RECORD, &person},
                                     {{{"m"}, {"n"}}, CSJ_CAPTURE_RECORD, &pet},
                                     {{{"kids"}}, CSJ_CAPTURE_RECORD, &person},
                                     {{{"kids"}}, CSJ_CAPTURE_RECORD, &pet},
                                     {{{""}}},
                                     {{{"\xC3\xA9\""}}},
                                     {{{"a key of more than sixteen bytes"}}},
                                     {{{}}, CSJ_CAPTURE_RAW}};
        record.define(fields, true);
        // With elements an array is a record too; more than 64 keys are noted in another way than fewer.
        fields.push_back({{{0}}});
        fields.push_back({{{1, "id"}}, CSJ_CAPTURE_RAW});
        static char names[70][4];
        for (int number = 0; number < 70; ++number) {
            snprintf(names[number], sizeof names[number], "k%d", number);
            fields.push_back({{{names[number]}}});
        }
        wide_record.define(fields, true);
        envelope.define({{{{"next"}}},
                         {{{"links", "next"}, {"cursor"}}},
                         {{{"meta", "total"}}},
                         {{{"meta"}}, CSJ_CAPTURE_RAW},
                         {{{"info"}}, CSJ_CAPTURE_RECORD, &pet},
                         {{{"all"}}, CSJ_CAPTURE_RECORD, &person},
                         {{{"data", 0, "id"}}},
                         {{{"data"}}}},
                        true);
        at_root.define({{{{}}, CSJ_CAPTURE_LOCATE}}, false);
        at_data.define({{{{"data"}}, CSJ_CAPTURE_LOCATE}}, false);
        at_each.define({{{{Each()}}, CSJ_CAPTURE_LOCATE}}, false);
        at_each_datum.define({{{{"data", Each()}}, CSJ_CAPTURE_LOCATE}}, false);
        at_each_kid.define({{{{Each(), "kids"}}, CSJ_CAPTURE_LOCATE}}, false);
        at_each_of_each.define({{{{Each(), Each()}}, CSJ_CAPTURE_LOCATE}}, false);
        at_each_next.define({{{{"data", Each(), "n", Each(), "id"}}, CSJ_CAPTURE_LOCATE}}, false);
    }
};

inline const Plans &plans() {
    static const Plans *all = new Plans;
    return *all;
}

// MARK: How to read

/// Limits that matter, one by one and all together, beside the usual ones and none. `cells` below what a plan needs refuses the page.
struct Limits {
    uint64_t depth, string, key, digits, records, cells;
};
const Limits all_limits[] = {
    {128, 4 << 20, 1 << 10, 1000, 20000, 1000000},
    {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
    {4, 5, 4, 3, 2, 1000000},
    {128, 4, 1 << 10, 1000, 20000, 1000000},
    {128, 4 << 20, 3, 19, 20000, 1000000},
    {3, 4 << 20, 1 << 10, 2, 1, 1000000},
    {128, 4 << 20, 1 << 10, 1000, 20000, 110},
    {128, 4 << 20, 1 << 10, 1000, 20000, 40},
    {128, 4 << 20, 1 << 10, 1000, 0, 8},
};
/// With fewer, nothing is said about when they are used up: that is the walker's own arithmetic.
constexpr uint64_t enough_cells = 1000000;

const size_t all_windows[] = {0, 1, 2, 3, 7, 16, 40, 64, 65};

struct Setting {
    size_t windows[2];
    csj_request request{};
    const Plan *locator, *plan, *envelope;
    /// Before the first walk there is one that is given up in the middle.
    bool abandons;

    /// Each byte makes one choice, and `0` is the first one, so that an input can be written by hand.
    explicit Setting(const uint8_t *header) {
        auto choose = [&](size_t at, size_t count) { return uint8_t(header[at] - '0') % count; };
        windows[0] = all_windows[choose(0, std::size(all_windows))];
        windows[1] = all_windows[choose(1, std::size(all_windows))];
        request.duplicate_keys = uint8_t(choose(2, 3));
        request.lone_surrogates = uint8_t(choose(3, 2));
        request.nul_in_text = uint8_t(choose(4, 3));
        request.number_overflow = uint8_t(choose(5, 4) & 1);
        request.big_integers = uint8_t(choose(5, 4) >> 1);
        const Limits &limits = all_limits[choose(6, std::size(all_limits))];
        request.max_depth = limits.depth;
        request.max_string = limits.string;
        request.max_key = limits.key;
        request.max_number_digits = limits.digits;
        request.max_records = limits.records;
        request.max_cells = limits.cells;
        const size_t rest = choose(7, 144) % 24, wildcard = choose(7, 144) / 24;
        const Plan *const locators[] = {&plans().at_root, &plans().at_data, nullptr};
        const Plan *const wildcards[] = {nullptr, &plans().at_each, &plans().at_each_datum, &plans().at_each_kid, &plans().at_each_of_each,
                                         &plans().at_each_next};
        locator = wildcard ? wildcards[wildcard] : locators[rest % 3];
        plan = rest / 3 % 2 ? &plans().wide_record : &plans().record;
        envelope = rest / 6 % 2 ? nullptr : &plans().envelope;
        abandons = rest / 12;
        request.locator = locator ? locator->compiled : nullptr;
        request.plan = plan->compiled;
        request.envelope = envelope ? envelope->compiled : nullptr;
    }
};

}  // namespace fuzz

#endif
