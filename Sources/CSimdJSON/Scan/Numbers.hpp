#ifndef CSJ_NUMBERS_HPP
#define CSJ_NUMBERS_HPP

#include <cstddef>
#include <cstdint>

namespace csj {

enum class NumberKind : uint8_t { malformed, int64, float64, big_integer, overflow, underflow, too_many_digits };

struct Number {
    NumberKind kind;
    /// The bit pattern of the int64 or double.
    uint64_t bits;
};

/// See `read_number`.
Number read_any_number(const uint8_t *at, const uint8_t *end, uint64_t max_digits, bool wanted);

/// Reads the token `[at, end)`, which must be a JSON number and nothing else.
///
/// A number with a fraction or an exponent is the nearest double. It counts as overflow when that is infinite and as underflow when it is
/// zero although the number is not: in both cases no double can stand for it. With `wanted` false only the grammar and these two are
/// checked, and a double that is certainly in range is not computed.
inline Number read_number(const uint8_t *at, const uint8_t *end, uint64_t max_digits, bool wanted) {
    // Nearly all numbers are short integers.
    const uint8_t *digit = at + (*at == '-');
    size_t digits = size_t(end - digit);
    if (digits == 0 || digits > 18 || digits > max_digits || *digit == '0') { return read_any_number(at, end, max_digits, wanted); }
    uint64_t value = 0;
    for (; digit < end; ++digit) {
        uint64_t next = uint64_t(*digit) - '0';
        if (next > 9) { return read_any_number(at, end, max_digits, wanted); }
        value = value * 10 + next;
    }
    return {NumberKind::int64, *at == '-' ? uint64_t(0) - value : value};
}

}  // namespace csj

#endif
