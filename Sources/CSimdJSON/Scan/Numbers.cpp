#include "Numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

namespace csj {

static inline bool is_digit(uint8_t byte) { return uint8_t(byte - '0') <= 9; }

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static inline uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

/// All the digits of a token, wherever they stand.
static uint64_t count_digits(const uint8_t *at, const uint8_t *end) {
    uint64_t count = 0;
    for (; at < end; ++at) { count += is_digit(*at); }
    return count;
}

static Number read_double(const uint8_t *token, const uint8_t *end, bool negative, bool zero, bool wanted, uint64_t significand,
                          uint64_t digits, int64_t decimal_exponent) {
    if (zero) { return {NumberKind::float64, bits_of(negative ? -0.0 : 0.0)}; }
    // The value is below 10^(digits + exponent) and at least 10^(digits - 1 + exponent), leading zeros apart.
    int64_t magnitude = int64_t(digits) + decimal_exponent;
    if (!wanted && digits <= 300 && magnitude > -280 && magnitude < 300) { return {NumberKind::float64, 0}; }
    // Both factors are exact, so one rounding is all there is.
    if (digits <= 19 && significand <= (uint64_t(1) << 53) && decimal_exponent >= -22 && decimal_exponent <= 22) {
        double value = double(significand);
        value = decimal_exponent < 0 ? value / powers_of_ten[-decimal_exponent] : value * powers_of_ten[decimal_exponent];
        return {NumberKind::float64, bits_of(negative ? -value : value)};
    }
    double value = 0;
    auto result = std::from_chars(reinterpret_cast<const char *>(token), reinterpret_cast<const char *>(end), value);
    if (result.ec == std::errc::result_out_of_range || std::isinf(value) || value == 0) {
        return {magnitude > 0 ? NumberKind::overflow : NumberKind::underflow, 0};
    }
    return {NumberKind::float64, bits_of(value)};
}

Number read_any_number(const uint8_t *token, const uint8_t *end, uint64_t max_digits, bool wanted) {
    const Number malformed = {NumberKind::malformed, 0};
    const uint8_t *at = token;
    bool negative = *at == '-';
    if (negative) { ++at; }
    if (at == end || !is_digit(*at)) { return malformed; }

    const uint8_t *integer = at;
    uint64_t significand = 0;
    bool zero = true;
    if (*at == '0') {
        ++at;
    } else {
        zero = false;
        while (at < end && is_digit(*at)) { significand = significand * 10 + uint64_t(*at++ - '0'); }
    }
    uint64_t integer_digits = uint64_t(at - integer);

    if (at == end) {
        // An integer. Nineteen digits always fit into an unsigned 64-bit number.
        if (integer_digits > max_digits) { return {NumberKind::too_many_digits, 0}; }
        if (integer_digits > 19) { return {NumberKind::big_integer, 0}; }
        // No int64 is a negative zero, a double is.
        if (negative && significand == 0) { return {NumberKind::float64, bits_of(-0.0)}; }
        uint64_t limit = uint64_t(INT64_MAX) + (negative ? 1 : 0);
        if (significand > limit) { return {NumberKind::big_integer, 0}; }
        return {NumberKind::int64, negative ? uint64_t(0) - significand : significand};
    }

    uint64_t fraction_digits = 0;
    // Digits that count: a leading zero says nothing about the magnitude.
    uint64_t digits = zero ? 0 : integer_digits;
    if (*at == '.') {
        const uint8_t *fraction = ++at;
        while (at < end && is_digit(*at)) {
            uint64_t digit = uint64_t(*at++ - '0');
            significand = significand * 10 + digit;
            if (digit != 0) { zero = false; }
            if (!zero) { ++digits; }
        }
        fraction_digits = uint64_t(at - fraction);
        if (fraction_digits == 0) { return malformed; }
    }
    int64_t exponent = 0;
    if (at < end && (*at == 'e' || *at == 'E')) {
        ++at;
        bool negative_exponent = false;
        if (at < end && (*at == '+' || *at == '-')) { negative_exponent = *at++ == '-'; }
        if (at == end || !is_digit(*at)) { return malformed; }
        while (at < end && is_digit(*at)) {
            // Far beyond what any document's digits could bring back into range.
            if (exponent < 1000000000000) { exponent = exponent * 10 + (*at - '0'); }
            ++at;
        }
        if (negative_exponent) { exponent = -exponent; }
    }
    if (at != end) { return malformed; }
    if (uint64_t(end - token) > max_digits && count_digits(token, end) > max_digits) { return {NumberKind::too_many_digits, 0}; }
    return read_double(token, end, negative, zero, wanted, significand, digits, exponent - int64_t(fraction_digits));
}

}  // namespace csj
