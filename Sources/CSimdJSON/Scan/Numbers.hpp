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

/// Reads the token `[at, end)`, which must be a JSON number and nothing else.
///
/// A number with a fraction or an exponent is the nearest double. It counts as overflow when that is infinite and as underflow when it is
/// zero although the number is not: in both cases no double can stand for it. With `wanted` false only the grammar and these two are
/// checked, and a double that is certainly in range is not computed.
Number read_number(const uint8_t *at, const uint8_t *end, uint64_t max_digits, bool wanted);

}  // namespace csj

#endif
