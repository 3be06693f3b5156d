#include "Strings.hpp"

#include <cstring>

namespace csj {

/// The value of four hexadecimal digits, or -1.
static int32_t read_hex4(const uint8_t *at) {
    int32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        uint8_t byte = at[i];
        int32_t digit;
        if (byte >= '0' && byte <= '9') {
            digit = byte - '0';
        } else if (byte >= 'a' && byte <= 'f') {
            digit = byte - 'a' + 10;
        } else if (byte >= 'A' && byte <= 'F') {
            digit = byte - 'A' + 10;
        } else {
            return -1;
        }
        value = value << 4 | digit;
    }
    return value;
}

static size_t encode_utf8(uint32_t scalar, uint8_t *target) {
    if (scalar < 0x80) {
        target[0] = uint8_t(scalar);
        return 1;
    }
    if (scalar < 0x800) {
        target[0] = uint8_t(0xC0 | scalar >> 6);
        target[1] = uint8_t(0x80 | (scalar & 0x3F));
        return 2;
    }
    if (scalar < 0x10000) {
        target[0] = uint8_t(0xE0 | scalar >> 12);
        target[1] = uint8_t(0x80 | (scalar >> 6 & 0x3F));
        target[2] = uint8_t(0x80 | (scalar & 0x3F));
        return 3;
    }
    target[0] = uint8_t(0xF0 | scalar >> 18);
    target[1] = uint8_t(0x80 | (scalar >> 12 & 0x3F));
    target[2] = uint8_t(0x80 | (scalar >> 6 & 0x3F));
    target[3] = uint8_t(0x80 | (scalar & 0x3F));
    return 4;
}

Decoded decode_string(const uint8_t *at, const uint8_t *end, uint8_t *target, bool strips_nul) {
    Decoded result;
    uint8_t discarded[4];
    while (at < end) {
        const void *found = memchr(at, '\\', size_t(end - at));
        const uint8_t *escape = found ? static_cast<const uint8_t *>(found) : end;
        if (target) { memcpy(target + result.length, at, size_t(escape - at)); }
        result.length += size_t(escape - at);
        at = escape;
        // Escapes like company (text in another script, base 64 with escaped slashes): stay here while they follow each other.
        while (at < end && *at == '\\') {
            uint8_t *to = target ? target + result.length : discarded;
            if (end - at < 2) {
                result.malformed = at;
                return result;
            }
            uint8_t plain = 0;
            switch (at[1]) {
                case '"': plain = '"'; break;
                case '\\': plain = '\\'; break;
                case '/': plain = '/'; break;
                case 'b': plain = '\b'; break;
                case 'f': plain = '\f'; break;
                case 'n': plain = '\n'; break;
                case 'r': plain = '\r'; break;
                case 't': plain = '\t'; break;
                case 'u': break;
                default: result.malformed = at; return result;
            }
            if (plain) {
                *to = plain;
                ++result.length;
                at += 2;
                continue;
            }
            int32_t unit = end - at >= 6 ? read_hex4(at + 2) : -1;
            if (unit < 0) {
                result.malformed = at;
                return result;
            }
            uint32_t scalar = uint32_t(unit);
            const uint8_t *start = at;
            at += 6;
            if (unit >= 0xD800 && unit <= 0xDFFF) {
                int32_t second = -1;
                if (unit < 0xDC00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') { second = read_hex4(at + 2); }
                if (second >= 0xDC00 && second <= 0xDFFF) {
                    scalar = 0x10000 + (uint32_t(unit - 0xD800) << 10) + uint32_t(second - 0xDC00);
                    at += 6;
                } else {
                    scalar = 0xFFFD;
                    if (!result.lone_surrogate) { result.lone_surrogate = start; }
                }
            } else if (unit == 0) {
                if (!result.nul) { result.nul = start; }
                if (strips_nul) { continue; }
            }
            result.length += encode_utf8(scalar, to);
        }
    }
    return result;
}

}  // namespace csj
