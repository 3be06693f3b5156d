/// A libFuzzer target: the JSON walker of CSimdJSON against libsimdjson's DOM parser, which shares its first stage and nothing else.
/// `Scripts/fuzz-json` builds and runs it.
///
/// The first eight bytes of an input say how to read (see `Setting`), the rest is the document. It is walked twice, each time with another
/// window: once in a heap block of exactly its size, where AddressSanitizer sees a read beyond its end, and once right before a page that
/// cannot be read, where libsimdjson, which is not instrumented, cannot read beyond its end either. Both walks must come to the same, and
/// everything they hand out must be what the DOM says.
///
/// The DOM parser refuses some documents that the walker takes on purpose. Those are put right first, at the same length (`Document`); then
/// both must agree on every document.
#include <simdjson.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "CSimdJSON.h"

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr size_t header_length = 8;
constexpr size_t longest_document = 1 << 16;
constexpr uint32_t none = UINT32_MAX;

const uint8_t *input;
size_t input_length;

/// Says what differs and of which document, and ends the process, which is how libFuzzer learns of it.
[[noreturn]] __attribute__((format(printf, 1, 2))) void differs(const char *format, ...) {
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

/// A key or, with `index` not negative, an array index (and the key with the same digits, `key`).
struct Segment {
    std::string key;
    int index = -1;
    Segment(const char *key) : key(key) {}
    Segment(int index) : key(std::to_string(index)), index(index) {}
};

struct Path {
    std::vector<Segment> segments;
    Path(std::initializer_list<Segment> segments) : segments(segments) {}
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
                std::vector<csj_segment> segments;
                for (const Segment &segment : path.segments) {
                    const bool is_key = segment.index < 0;
                    segments.push_back({is_key ? reinterpret_cast<const uint8_t *>(segment.key.data()) : nullptr,
                                        is_key ? segment.key.size() : 0, is_key ? 0 : uint32_t(segment.index)});
                }
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
    }
};

const Plans &plans() {
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

const size_t windows[] = {0, 1, 2, 3, 7, 16, 40, 64, 65};

struct Setting {
    size_t windows[2];
    csj_request request{};
    const Plan *locator, *plan, *envelope;
    /// Before the first walk there is one that is given up in the middle.
    bool abandons;

    /// Each byte makes one choice, and `0` is the first one, so that an input can be written by hand.
    explicit Setting(const uint8_t *header) {
        auto choose = [&](size_t at, size_t count) { return uint8_t(header[at] - '0') % count; };
        windows[0] = ::windows[choose(0, std::size(::windows))];
        windows[1] = ::windows[choose(1, std::size(::windows))];
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
        const size_t rest = choose(7, 24);
        const Plan *const locators[] = {&plans().at_root, &plans().at_data, nullptr};
        locator = locators[rest % 3];
        plan = rest / 3 % 2 ? &plans().wide_record : &plans().record;
        envelope = rest / 6 % 2 ? nullptr : &plans().envelope;
        abandons = rest / 12;
        request.locator = locator ? locator->compiled : nullptr;
        request.plan = plan->compiled;
        request.envelope = envelope ? envelope->compiled : nullptr;
    }
};

// MARK: The document as the DOM parser is given it

struct NumberToken {
    uint64_t digits = 0;
    /// What the walker must make of it.
    int kind = CSJ_BIG_NUMBER;
    uint64_t bits = 0;
    bool is_integer = false, is_overflow = false;
    /// The DOM parser refuses it.
    bool is_beyond_dom = false;
};

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/// Straight from the grammar, and strtod for the value. False: not a number.
bool read_token(std::string_view text, NumberToken &number) {
    number = NumberToken{};
    size_t at = 0;
    auto digits = [&] {
        size_t start = at;
        while (at < text.size() && is_digit(text[at])) { ++at; }
        number.digits += at - start;
        return at > start;
    };
    const bool is_negative = !text.empty() && text[0] == '-';
    if (is_negative) { ++at; }
    const size_t integer = at;
    if (!digits() || (text[integer] == '0' && at - integer > 1)) { return false; }
    const size_t integer_end = at;
    if (at < text.size() && text[at] == '.' && (++at, !digits())) { return false; }
    const size_t significand_end = at;
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) { ++at; }
        if (!digits()) { return false; }
    }
    if (at != text.size()) { return false; }

    const std::string copy(text);
    const double value = strtod(copy.c_str(), nullptr);
    number.is_integer = integer_end == text.size();
    if (number.is_integer && !(value == 0 && is_negative)) {
        errno = 0;
        const int64_t whole = strtoll(copy.c_str(), nullptr, 10);
        if (errno == 0) {
            number.kind = CSJ_INT64;
            number.bits = uint64_t(whole);
        } else if (is_negative) {
            number.is_beyond_dom = true;
        } else {
            errno = 0;
            strtoull(copy.c_str(), nullptr, 10);
            number.is_beyond_dom = errno != 0;
        }
        return true;
    }
    const bool is_zero = text.substr(integer, significand_end - integer).find_first_of("123456789") == std::string_view::npos;
    number.is_overflow = number.is_beyond_dom = value > 1.7976931348623157e308 || value < -1.7976931348623157e308;
    if (number.is_overflow || (value == 0 && !is_zero)) { return true; }
    number.kind = CSJ_DOUBLE;
    memcpy(&number.bits, &value, sizeof value);
    return true;
}

/// The four hexadecimal digits of the escape `\u` at this place, or -1 if there is no such escape.
int escaped_unit(const std::string &text, size_t at) {
    if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') { return -1; }
    int unit = 0;
    for (size_t digit = at + 2; digit < at + 6; ++digit) {
        if (!isxdigit(uint8_t(text[digit]))) { return -1; }
        unit = unit << 4 | (is_digit(text[digit]) ? text[digit] - '0' : (text[digit] | 0x20) - 'a' + 10);
    }
    return unit;
}

/// The text with everything put right that the walker takes and the DOM parser does not. Nothing else may be: whatever is malformed stays
/// so, and all places stay the same.
struct Document {
    std::string text;
    std::vector<size_t> lone_surrogates;

    explicit Document(std::string_view original) : text(original) {
        bool is_inside = false;
        for (size_t at = 0; at < text.size();) {
            if (text[at] == '"') {
                is_inside = !is_inside;
                ++at;
            } else if (is_inside) {
                at += text[at] == '\\' ? read_escape(at) : 1;
            } else if (is_digit(text[at]) || text[at] == '-') {
                size_t end = at;
                while (end < text.size() && strchr("0123456789+-.eE", text[end]) && text[end]) { ++end; }
                NumberToken number;
                // 1. An integer outside of 64 bits or a number beyond the largest double is legal JSON. The walker hands out its digits, the
                // DOM has no type for it.
                if (read_token(std::string_view(text).substr(at, end - at), number) && number.is_beyond_dom) {
                    text.replace(at, end - at, "0" + std::string(end - at - 1, ' '));
                }
                at = end;
            } else {
                ++at;
            }
        }
    }

    bool has_lone_surrogate(uint32_t offset, uint32_t length) const {
        auto next = std::lower_bound(lone_surrogates.begin(), lone_surrogates.end(), size_t(offset));
        return next != lone_surrogates.end() && *next < size_t(offset) + length;
    }

  private:
    size_t read_escape(size_t at) {
        const int unit = escaped_unit(text, at);
        if (unit < 0) { return 2; }
        if (unit < 0xD800 || unit > 0xDFFF) { return 6; }
        const int second = unit < 0xDC00 ? escaped_unit(text, at + 6) : -1;
        if (second >= 0xDC00 && second <= 0xDFFF) { return 12; }
        // 2. A lone half of a surrogate pair is legal JSON. The walker makes U+FFFD of it (or refuses the record), the DOM parser refuses the
        // document, or encodes the half, which is not UTF-8.
        text.replace(at, 6, "\\ufffd");
        lone_surrogates.push_back(at);
        return 6;
    }
    // 3. Depth is no difference: the DOM parser is told to take any.
};

// MARK: The tree

/// A value of the document: what the DOM says of it, and where it stands, which the DOM does not say.
struct Value {
    element dom;
    /// If it is a member of an object: its key, decoded, and the key's place in the text.
    std::string_view key;
    uint32_t key_offset = 0, key_length = 0;
    uint32_t offset = 0, length = 0;
    /// In the order of the document a value's descendants follow it: this is where they end.
    uint32_t end = 0;
    uint32_t parent = none;
    uint32_t depth = 0;
    bool is_member = false;
    /// Why a record with this in it is refused: a bit for each CSJ_PROBLEM_…; of the value itself, and of its key.
    uint32_t problems = 0, key_problems = 0;

    bool is_object() const { return dom.type() == element_type::OBJECT; }
    bool is_array() const { return dom.type() == element_type::ARRAY; }
    bool is_container() const { return is_object() || is_array(); }
};

class Tree {
  public:
    std::vector<Value> values;
    const Setting &setting;
    const Document &document;
    std::string_view original;

    Tree(element root, const Setting &setting, const Document &document, std::string_view original)
        : setting(setting), document(document), original(original), text(document.text) {
        build(root);
        for (Value &value : values) { judge(value); }
    }

    std::vector<uint32_t> children(uint32_t of) const {
        std::vector<uint32_t> all;
        for (uint32_t at = of + 1; at < values[of].end; at = values[at].end) { all.push_back(at); }
        return all;
    }

    /// The value at a path, as far as it lies below `from`, or `none`.
    uint32_t resolve(uint32_t from, const Path &path) const {
        for (const Segment &segment : path.segments) {
            const Value &value = values[from];
            if (!value.is_container() || (value.is_array() && segment.index < 0)) { return none; }
            uint32_t match = none;
            int64_t element = 0;
            for (uint32_t at = from + 1; at < value.end; at = values[at].end, ++element) {
                if (value.is_array() ? element != segment.index : values[at].key != segment.key) { continue; }
                match = at;
                if (setting.request.duplicate_keys == CSJ_DUPLICATES_FIRST) { break; }
            }
            if (match == none) { return none; }
            from = match;
        }
        return from;
    }

    std::string decoded(std::string_view string) const {
        std::string result(string);
        if (setting.request.nul_in_text == CSJ_NUL_STRIP) { result.erase(std::remove(result.begin(), result.end(), '\0'), result.end()); }
        return result;
    }

    /// All problems of a value and what is in it.
    uint32_t problems(uint32_t of) const {
        uint32_t all = values[of].problems;
        for (uint32_t at = of + 1; at < values[of].end; ++at) { all |= values[at].problems | values[at].key_problems; }
        return all;
    }

  private:
    const std::string &text;

    struct Level {
        uint32_t value;
        std::vector<std::pair<std::string_view, element>> children;
        size_t next = 0;
    };

    void skip_space(size_t &at) const {
        while (at < text.size() && strchr(" \t\r\n", text[at]) && text[at]) { ++at; }
    }

    void take(size_t &at, char expected) const {
        skip_space(at);
        if (at >= text.size() || text[at] != expected) { differs("the DOM parser accepts, but at %zu there is no %c", at, expected); }
        ++at;
    }

    void take_string(size_t &at) const {
        take(at, '"');
        while (at < text.size() && text[at] != '"') { at += text[at] == '\\' ? 2 : 1; }
        take(at, '"');
    }

    /// With a stack of its own: documents may be as deep as they are long.
    void build(element root) {
        std::vector<Level> levels;
        size_t at = 0;
        std::pair<std::string_view, element> next = {{}, root};
        for (;;) {
            const uint32_t index = uint32_t(values.size());
            Value &value = values.emplace_back();
            value.dom = next.second;
            value.depth = uint32_t(levels.size());
            if (!levels.empty()) {
                value.parent = levels.back().value;
                value.is_member = values[value.parent].is_object();
            }
            if (value.is_member) {
                skip_space(at);
                value.key = next.first;
                value.key_offset = uint32_t(at);
                take_string(at);
                value.key_length = uint32_t(at) - value.key_offset;
                take(at, ':');
            }
            skip_space(at);
            value.offset = uint32_t(at);
            if (value.is_container()) {
                take(at, value.is_object() ? '{' : '[');
                levels.push_back({index, {}});
                auto &children = levels.back().children;
                if (value.is_object()) {
                    const simdjson::dom::object object = value.dom.get_object().value_unsafe();
                    for (auto member : object) { children.push_back({member.key, member.value}); }
                } else {
                    const simdjson::dom::array array = value.dom.get_array().value_unsafe();
                    for (element child : array) { children.push_back({{}, child}); }
                }
            } else {
                if (text[at] == '"') {
                    take_string(at);
                } else {
                    while (at < text.size() && !(strchr(" \t\r\n,]}", text[at]) && text[at])) { ++at; }
                }
                end_value(index, at);
            }
            while (!levels.empty() && levels.back().next == levels.back().children.size()) {
                take(at, values[levels.back().value].is_object() ? '}' : ']');
                end_value(levels.back().value, at);
                levels.pop_back();
            }
            if (levels.empty()) { break; }
            Level &level = levels.back();
            if (level.next > 0) { take(at, ','); }
            next = level.children[level.next++];
        }
        skip_space(at);
        if (at != text.size()) { differs("the DOM parser accepts, but something follows at %zu", at); }
    }

    void end_value(uint32_t index, size_t at) {
        Value &value = values[index];
        value.end = uint32_t(values.size());
        // A number that was put right has become shorter.
        if (!value.is_container() && text[value.offset] != '"') {
            at = value.offset;
            while (at < original.size() && !(strchr(" \t\r\n,]}", original[at]) && original[at])) { ++at; }
        }
        value.length = uint32_t(at) - value.offset;
    }

    void judge(Value &value) const {
        const csj_request &request = setting.request;
        const bool refuses_halves = request.lone_surrogates == CSJ_SURROGATES_REJECT;
        auto problem = [&](bool is_there, int code) { return is_there ? 1u << code : 0; };
        if (value.is_member) {
            // U+0000 in a key is let through: the policy is about text.
            value.key_problems |= problem(value.key.size() > request.max_key, CSJ_PROBLEM_KEY_LENGTH);
            value.key_problems |=
                problem(refuses_halves && document.has_lone_surrogate(value.key_offset, value.key_length), CSJ_PROBLEM_LONE_SURROGATE);
        }
        if (value.dom.is_string()) {
            const std::string_view string = value.dom.get_string().value_unsafe();
            value.problems |= problem(decoded(string).size() > request.max_string, CSJ_PROBLEM_STRING_LENGTH);
            value.problems |= problem(refuses_halves && document.has_lone_surrogate(value.offset, value.length), CSJ_PROBLEM_LONE_SURROGATE);
            value.problems |=
                problem(request.nul_in_text == CSJ_NUL_REJECT && string.find('\0') != std::string_view::npos, CSJ_PROBLEM_NUL);
        } else if (value.is_object() && request.duplicate_keys == CSJ_DUPLICATES_REJECT) {
            std::vector<std::string_view> keys;
            const simdjson::dom::object object = value.dom.get_object().value_unsafe();
            for (auto member : object) { keys.push_back(member.key); }
            std::sort(keys.begin(), keys.end());
            value.problems |= problem(std::adjacent_find(keys.begin(), keys.end()) != keys.end(), CSJ_PROBLEM_DUPLICATE_KEY);
        } else if (value.dom.is_number()) {
            const NumberToken number = token(value);
            if (number.digits > request.max_number_digits) {
                value.problems |= 1u << CSJ_PROBLEM_NUMBER_DIGITS;
                return;
            }
            const bool is_big = number.is_integer && number.kind == CSJ_BIG_NUMBER;
            value.problems |= problem(is_big && request.big_integers == CSJ_NUMBERS_REJECT, CSJ_PROBLEM_BIG_INTEGER);
            value.problems |= problem(number.is_overflow && request.number_overflow == CSJ_NUMBERS_REJECT, CSJ_PROBLEM_NUMBER_OVERFLOW);
        }
    }

  public:
    NumberToken token(const Value &value) const {
        NumberToken number;
        const std::string_view digits = original.substr(value.offset, value.length);
        if (!read_token(digits, number)) { differs("the DOM parser takes %.*s for a number", int(digits.size()), digits.data()); }
        return number;
    }
};

// MARK: What must come of a document

/// The records and whatever else the walk as a whole has to say, going by the DOM.
struct Expectation {
    std::vector<uint32_t> records;
    int found = CSJ_FOUND_NOTHING;
    size_t found_offset = 0;
    uint32_t depth = 0;
    /// Limits that are exceeded outside of the records.
    uint32_t outside = 0;
    bool is_ambiguous = false;
    std::vector<bool> is_in_record;

    explicit Expectation(const Tree &tree) : is_in_record(tree.values.size()) {
        const Setting &setting = tree.setting;
        if (setting.locator) {
            locate(tree, tree.resolve(0, setting.locator->fields[0].paths[0]));
        } else {
            records = {0};
        }
        for (uint32_t record : records) {
            std::fill(is_in_record.begin() + record, is_in_record.begin() + tree.values[record].end, true);
        }
        const std::set<uint32_t> roots(records.begin(), records.end());
        for (uint32_t at = 0; at < tree.values.size(); ++at) {
            const Value &value = tree.values[at];
            depth = std::max(depth, value.depth + (value.is_container() ? 1 : 0));
            if (!is_in_record[at]) { outside |= value.problems; }
            // The key of a record stands before it.
            if (!is_in_record[at] || roots.count(at)) { outside |= value.key_problems; }
        }
        const int duplicates = setting.request.duplicate_keys;
        if (setting.locator && duplicates != CSJ_DUPLICATES_FIRST) { is_ambiguous |= repeats(tree, 0, begin(*setting.locator)); }
        if (setting.envelope && duplicates == CSJ_DUPLICATES_REJECT) { is_ambiguous |= repeats(tree, 0, begin(*setting.envelope)); }
    }

  private:
    /// A path of which the rest, from `at` on, is still to go.
    struct Way {
        const Field *field;
        const Path *path;
        size_t at;
    };

    void locate(const Tree &tree, uint32_t list) {
        if (list == none) { return; }
        const Value &value = tree.values[list];
        found_offset = value.offset;
        if (value.is_array()) {
            found = CSJ_FOUND_ARRAY;
            records = tree.children(list);
        } else if (value.is_object()) {
            found = CSJ_FOUND_OBJECT;
            records = {list};
        } else {
            found = value.dom.is_null() ? CSJ_FOUND_NULL : CSJ_FOUND_SCALAR;
        }
    }

    static std::vector<Way> begin(const Plan &plan) {
        std::vector<Way> ways;
        for (const Field &field : plan.fields) {
            for (const Path &path : field.paths) { ways.push_back({&field, &path, 0}); }
        }
        return ways;
    }

    /// Whether a key on one of the ways stands twice in its object.
    static bool repeats(const Tree &tree, uint32_t index, std::vector<Way> ways) {
        const Value &value = tree.values[index];
        if (!value.is_container()) { return false; }
        std::set<const Plan *> plans;
        for (size_t at = 0; at < ways.size(); ++at) {
            const Way way = ways[at];
            const Plan *nested = way.at == way.path->segments.size() ? way.field->nested : nullptr;
            if (!nested || !plans.insert(nested).second) { continue; }
            const std::vector<Way> more = begin(*nested);
            if (value.is_object()) {
                ways.insert(ways.end(), more.begin(), more.end());
            } else {
                for (uint32_t child : tree.children(index)) {
                    if (tree.values[child].is_object() && repeats(tree, child, more)) { return true; }
                }
            }
        }
        std::set<std::string_view> seen;
        int64_t element = 0;
        for (uint32_t child : tree.children(index)) {
            std::vector<Way> rest;
            for (const Way &way : ways) {
                if (way.at == way.path->segments.size()) { continue; }
                const Segment &segment = way.path->segments[way.at];
                const bool matches = value.is_object() ? segment.key == tree.values[child].key : segment.index == element;
                if (matches) { rest.push_back({way.field, way.path, way.at + 1}); }
            }
            ++element;
            if (rest.empty()) { continue; }
            if (value.is_object() && !seen.insert(tree.values[child].key).second) { return true; }
            if (repeats(tree, child, rest)) { return true; }
        }
        return false;
    }
};

// MARK: Reading everything that is handed out

/// Writes down all that a view holds, so that the sanitizers see each byte of it and two walks can be compared.
class Dump {
  public:
    std::string text;

    Dump(const csj_view *view, const Plan &plan) : view(view) { instance(0, plan); }

  private:
    const csj_view *view;

    template <typename Number>
    void number(Number value) { text.append(reinterpret_cast<const char *>(&value), sizeof value); }

    void bytes(const uint8_t *from, size_t length) {
        number(length);
        if (length) { text.append(reinterpret_cast<const char *>(from), length); }
    }

    void body(uint64_t offset, uint64_t length) {
        if (offset + length > view->body_length) { differs("a value at %zu reaches beyond the document", size_t(offset)); }
        bytes(view->body + offset, length);
    }

    void cell(const csj_cell &cell, const Plan *nested) {
        number(cell.kind);
        if (cell.kind == CSJ_MISSING) { return; }
        if (cell.length == 0) { differs("a cell of kind %d at %u has no text", cell.kind, cell.offset); }
        number(cell.offset);
        body(cell.offset, cell.length);
        switch (cell.kind) {
            case CSJ_STRING:
                number(cell.flags);
                if (cell.flags & CSJ_IN_SCRATCH) {
                    bytes(view->scratch + cell.payload, cell.count);
                } else {
                    body(cell.payload, cell.count);
                }
                break;
            case CSJ_RECORD: instance(uint32_t(cell.payload), *nested); break;
            case CSJ_ARRAY: items(uint32_t(cell.payload), cell.count, nested); break;
            case CSJ_INT64: case CSJ_DOUBLE: number(cell.payload); break;
            default: break;
        }
    }

    void items(uint32_t first, uint32_t count, const Plan *nested) {
        number(count);
        uint32_t left = count;
        for (uint32_t at = first; at != CSJ_NO_ITEM; at = view->next_item[at]) {
            if (left-- == 0) { differs("a list of %u items goes on", count); }
            cell(view->items[at], nested);
        }
        if (left) { differs("a list of %u items ends %u early", count, left); }
    }

    void instance(uint32_t at, const Plan &plan) {
        if (at >= view->instance_count) { differs("instance %u of %u", at, view->instance_count); }
        const csj_instance &instance = view->instances[at];
        if (instance.plan != plan.compiled || csj_view_field_count(view, at) != plan.fields.size()) { differs("instance %u: another plan", at); }
        number(instance.offset);
        body(instance.offset, instance.length);
        for (uint32_t field = 0; field < plan.fields.size(); ++field) { cell(csj_view_cell(view, at, field), plan.fields[field].nested); }
        items(instance.first_unknown, instance.unknown_count, nullptr);
    }
};

// MARK: Comparing with the DOM

class Comparison {
  public:
    Comparison(const csj_view *view, const Tree &tree, const Expectation &expected, bool is_envelope)
        : view(view), tree(tree), expected(expected), is_envelope(is_envelope) {}

    void instance(uint32_t at, const Plan &plan, uint32_t index) const {
        const csj_instance &instance = view->instances[at];
        const Value &value = tree.values[index];
        // The envelope stands for the whole document, and says nothing of its place.
        if (!(is_envelope && at == 0) && (instance.offset != value.offset || instance.length != value.length)) {
            differs("the instance at %u+%u should be at %u+%u", instance.offset, instance.length, value.offset, value.length);
        }
        for (uint32_t number = 0; number < plan.fields.size(); ++number) {
            const Field &field = plan.fields[number];
            uint32_t there = none;
            for (size_t path = 0; there == none && path < field.paths.size(); ++path) { there = tree.resolve(index, field.paths[path]); }
            const csj_cell cell = csj_view_cell(view, at, number);
            if (there == none) {
                if (cell.kind != CSJ_MISSING) { differs("field %u of the value at %u should be missing", number, value.offset); }
            } else {
                compare(cell, field, there);
            }
        }
        unknown_keys(instance, plan, index);
    }

  private:
    const csj_view *view;
    const Tree &tree;
    const Expectation &expected;
    const bool is_envelope;

    void compare(const csj_cell &cell, const Field &field, uint32_t index) const {
        const Value &value = tree.values[index];
        // An envelope value inside of a record that is refused for its length: the record is bad, the page is not.
        const bool is_too_long = value.problems & 1u << CSJ_PROBLEM_STRING_LENGTH;
        if (is_envelope && expected.is_in_record[index] && is_too_long && cell.kind == CSJ_MISSING) { return; }
        if (cell.offset != value.offset || cell.length != value.length) {
            differs("a cell of kind %d is at %u+%u, its value at %u+%u", cell.kind, cell.offset, cell.length, value.offset, value.length);
        }
        if (field.capture == CSJ_CAPTURE_RAW) {
            expect(cell, CSJ_RAW, value);
        } else if (!value.is_container()) {
            compare_scalar(cell, index);
        } else if (field.capture == CSJ_CAPTURE_VALUE) {
            expect(cell, CSJ_RAW, value);
        } else if (value.is_object()) {
            expect(cell, CSJ_RECORD, value);
            instance(uint32_t(cell.payload), *field.nested, index);
        } else {
            expect(cell, CSJ_ARRAY, value);
            uint32_t at = uint32_t(cell.payload);
            for (uint32_t child : tree.children(index)) {
                if (at == CSJ_NO_ITEM) { differs("the array at %u has more than %u items", value.offset, cell.count); }
                // An item is read as the field would be, but an array in the array as its text.
                compare(view->items[at], tree.values[child].is_array() ? Field{} : field, child);
                at = view->next_item[at];
            }
            if (at != CSJ_NO_ITEM) { differs("the array at %u has fewer than %u items", value.offset, cell.count); }
        }
    }

    void expect(const csj_cell &cell, int kind, const Value &value) const {
        if (cell.kind != kind) { differs("the value at %u has kind %d, expected %d", value.offset, cell.kind, kind); }
    }

    void compare_scalar(const csj_cell &cell, uint32_t index) const {
        const Value &value = tree.values[index];
        switch (value.dom.type()) {
            case element_type::NULL_VALUE: return expect(cell, CSJ_NULL, value);
            case element_type::BOOL: return expect(cell, value.dom.get_bool().value_unsafe() ? CSJ_TRUE : CSJ_FALSE, value);
            case element_type::STRING:
                expect(cell, CSJ_STRING, value);
                return compare_text(cell, value.dom.get_string().value_unsafe());
            default: break;
        }
        const NumberToken number = tree.token(value);
        // Its record is refused: nobody has looked what the number would be.
        if (value.problems & 1u << CSJ_PROBLEM_NUMBER_DIGITS && is_envelope && expected.is_in_record[index]) { return; }
        expect(cell, number.kind, value);
        if (cell.kind != CSJ_BIG_NUMBER && cell.payload != number.bits) {
            differs("the number at %u has bits %016llx, expected %016llx", value.offset, (unsigned long long)cell.payload,
                    (unsigned long long)number.bits);
        }
        if (!number.is_beyond_dom) { compare_number(cell, number, value); }
    }

    void compare_number(const csj_cell &cell, const NumberToken &number, const Value &value) const {
        uint64_t bits = 0;
        bool agrees = true;
        if (value.dom.is_int64()) {
            bits = uint64_t(value.dom.get_int64().value_unsafe());
            // No int64 is a negative zero: the walker makes a double of `-0`, the DOM 0.
            agrees = cell.kind == CSJ_INT64 ? bits == cell.payload : cell.kind == CSJ_DOUBLE && bits == 0 && number.is_integer;
        } else if (value.dom.is_uint64()) {
            // Beyond int64: the walker hands out the digits.
            const std::string digits(tree.original.substr(value.offset, value.length));
            bits = value.dom.get_uint64().value_unsafe();
            agrees = cell.kind == CSJ_BIG_NUMBER && strtoull(digits.c_str(), nullptr, 10) == bits;
        } else {
            const double dom = value.dom.get_double().value_unsafe();
            memcpy(&bits, &dom, sizeof dom);
            // So small that its double is zero, although the number is not: the walker hands out the digits.
            agrees = cell.kind == CSJ_DOUBLE ? bits == cell.payload : cell.kind == CSJ_BIG_NUMBER && dom == 0;
        }
        if (!agrees) { differs("the DOM says %016llx of the number at %u, a cell of kind %d", (unsigned long long)bits, value.offset, cell.kind); }
    }

    void compare_text(const csj_cell &cell, std::string_view dom) const {
        const std::string wanted = tree.decoded(dom);
        const uint8_t *text = cell.count == 0 ? nullptr : (cell.flags & CSJ_IN_SCRATCH ? view->scratch : view->body) + cell.payload;
        if (cell.count != wanted.size() || (text && memcmp(text, wanted.data(), wanted.size()) != 0)) {
            differs("the string at %u is not the DOM's", cell.offset);
        }
    }

    void unknown_keys(const csj_instance &instance, const Plan &plan, uint32_t index) const {
        uint32_t at = instance.first_unknown;
        if (plan.collects_unknown_keys && tree.values[index].is_object()) {
            for (uint32_t child : tree.children(index)) {
                const Value &member = tree.values[child];
                if (plan.first_keys.count(member.key)) { continue; }
                if (at == CSJ_NO_ITEM) { differs("the unknown key at %u is not listed", member.key_offset); }
                const csj_cell &cell = view->items[at];
                if (cell.offset != member.key_offset || cell.length != member.key_length || cell.kind != CSJ_STRING) {
                    differs("the key at %u is listed where the one at %u should be", cell.offset, member.key_offset);
                }
                compare_text(cell, member.key);
                at = view->next_item[at];
            }
        }
        if (at != CSJ_NO_ITEM) { differs("the key at %u is listed as unknown", view->items[at].offset); }
    }
};

// MARK: Walking

struct Outcome {
    std::vector<std::string> records;
    std::string envelope;
    int failure = CSJ_FAILURE_NONE;
    size_t failure_offset = 0;
    int found = CSJ_FOUND_NOTHING;
    size_t found_offset = 0;
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
    uint32_t problems = tree->problems(index);
    const bool is_right_shape = value.is_object() || (value.is_array() && setting.plan->wants_elements);
    if (setting.locator && !is_right_shape) { problems |= 1u << CSJ_PROBLEM_NOT_AN_OBJECT; }
    const uint32_t allowed = problems | (setting.request.max_cells < enough_cells ? 1u << CSJ_PROBLEM_CELLS : 0);
    if (view->problem == CSJ_PROBLEM_NONE) {
        if (problems) { differs("record %zu is accepted in spite of problems %x", number, problems); }
        Comparison(view, *tree, *expected, false).instance(0, *setting.plan, index);
    } else {
        if (!(allowed >> view->problem & 1)) { differs("record %zu is refused for %d, expected was %x", number, view->problem, problems); }
        if (view->problem_offset < value.offset || view->problem_offset >= uint64_t(value.offset) + value.length) {
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
    outcome.record_count = csj_reader_record_count(reader);
    if ((step == CSJ_STEP_FAILED) != (outcome.failure != CSJ_FAILURE_NONE)) { differs("step %d with failure %d", step, outcome.failure); }
    if (outcome.failure_offset > request.length) { differs("a failure at %zu, beyond the end", outcome.failure_offset); }
    if (step == CSJ_STEP_END && setting.envelope) {
        const csj_view *envelope = csj_reader_envelope_view(reader);
        outcome.envelope = Dump(envelope, *setting.envelope).text;
        if (tree) { Comparison(envelope, *tree, *expected, true).instance(0, *setting.envelope, 0); }
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
    // Under LAST the records of the earlier list have been walked, too, when the second one turns up.
    auto anywhere = [&](int problem) { return outside(problem) || (expected->is_ambiguous && tree->problems(0) >> problem & 1); };
    bool is_justified = false;
    switch (outcome.failure) {
        case CSJ_FAILURE_NONE: {
            bool is_exceeded = expected->depth > request.max_depth || expected->records.size() > request.max_records;
            is_exceeded |= outside(CSJ_PROBLEM_STRING_LENGTH) || outside(CSJ_PROBLEM_KEY_LENGTH) || outside(CSJ_PROBLEM_NUMBER_DIGITS);
            if (is_exceeded || expected->is_ambiguous) { differs("the walker accepts what is over a limit, or ambiguous"); }
            if (outcome.found != expected->found || outcome.found_offset != expected->found_offset) {
                differs("found %d at %zu, expected %d at %zu", outcome.found, outcome.found_offset, expected->found, expected->found_offset);
            }
            if (outcome.records.size() != expected->records.size() || outcome.record_count != expected->records.size()) {
                differs("%zu records, expected %zu", outcome.records.size(), expected->records.size());
            }
            return;
        }
        case CSJ_FAILURE_MAX_DEPTH: is_justified = expected->depth > request.max_depth; break;
        case CSJ_FAILURE_MAX_STRING: is_justified = anywhere(CSJ_PROBLEM_STRING_LENGTH); break;
        case CSJ_FAILURE_MAX_KEY: is_justified = anywhere(CSJ_PROBLEM_KEY_LENGTH); break;
        case CSJ_FAILURE_MAX_NUMBER_DIGITS: is_justified = anywhere(CSJ_PROBLEM_NUMBER_DIGITS); break;
        case CSJ_FAILURE_MAX_RECORDS: is_justified = expected->records.size() > request.max_records || expected->is_ambiguous; break;
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
    if (one.failure != CSJ_FAILURE_NONE && other.failure != CSJ_FAILURE_NONE && (is_of_the_document(one.failure) || is_of_the_document(other.failure))) {
        return;
    }
    if (one.failure != other.failure || one.failure_offset != other.failure_offset) {
        differs("the failure depends on the window: %d at %zu, %d at %zu", one.failure, one.failure_offset, other.failure, other.failure_offset);
    }
    if (one.records.size() != other.records.size() || one.record_count != other.record_count || one.envelope != other.envelope ||
        one.found != other.found || one.found_offset != other.found_offset) {
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

}  // namespace

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
    csj_reader_destroy(reader);
    return 0;
}
