#ifndef CSJ_FUZZ_DOCUMENT_HPP
#define CSJ_FUZZ_DOCUMENT_HPP

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "CSimdJSON.h"

namespace fuzz {

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

inline bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/// Straight from the grammar, and strtod for the value. False: not a number.
inline bool read_token(std::string_view text, NumberToken &number) {
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
inline int escaped_unit(const std::string &text, size_t at) {
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

}  // namespace fuzz

#endif
