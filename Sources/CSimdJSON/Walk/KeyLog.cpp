#include "KeyLog.hpp"

#include <cstring>

#include "../Scan/Strings.hpp"

namespace csj {

void KeyLog::clear() {
    hashes.clear();
    offsets.clear();
}

void KeyLog::trim() {
    hashes.trim();
    offsets.trim();
    for (Stack<uint64_t> &sequence : proven) { sequence.trim(); }
    table.trim();
    for (Stack<uint8_t> &text : texts) { text.trim(); }
}

uint32_t KeyLog::close(const uint8_t *body, size_t start, size_t depth) {
    size_t count = hashes.size() - start;
    uint32_t repeated = none;
    if (count > 1) {
        Stack<uint64_t> &known = proven[depth % depths];
        if (known.size() != count || memcmp(known.data(), hashes.data() + start, count * sizeof(uint64_t)) != 0) {
            repeated = count <= 16 ? find(body, start) : find_among_many(body, start);
            if (repeated == none && count <= 256) {
                known.clear();
                memcpy(known.extend(count), hashes.data() + start, count * sizeof(uint64_t));
            }
        }
    }
    hashes.drop_to(start);
    offsets.drop_to(start);
    return repeated;
}

uint32_t KeyLog::find(const uint8_t *body, size_t start) {
    for (size_t later = start + 1; later < hashes.size(); ++later) {
        for (size_t earlier = start; earlier < later; ++earlier) {
            if (hashes[earlier] == hashes[later] && same(body, offsets[earlier], offsets[later])) { return offsets[later]; }
        }
    }
    return none;
}

uint32_t KeyLog::find_among_many(const uint8_t *body, size_t start) {
    size_t count = hashes.size() - start;
    size_t size = 64;
    while (size < 2 * count) { size *= 2; }
    table.clear();
    memset(table.extend(size), 0xFF, size * sizeof(uint32_t));
    for (size_t later = start; later < hashes.size(); ++later) {
        size_t at = size_t(hashes[later]) & (size - 1);
        while (table[at] != none) {
            size_t earlier = start + table[at];
            if (hashes[earlier] == hashes[later] && same(body, offsets[earlier], offsets[later])) { return offsets[later]; }
            at = (at + 1) & (size - 1);
        }
        table[at] = uint32_t(later - start);
    }
    return none;
}

/// Both keys are known to be well-formed strings; different ones get here only by an unlikely accident of the hash.
bool KeyLog::same(const uint8_t *body, uint32_t a, uint32_t b) {
    uint32_t both[2] = {a, b};
    size_t lengths[2];
    for (int i = 0; i < 2; ++i) {
        const uint8_t *text = body + both[i] + 1;
        const uint8_t *end = text;
        while (*end != '"') { end += *end == '\\' ? 2 : 1; }
        texts[i].clear();
        uint8_t *decoded = texts[i].extend(size_t(end - text) + 1);
        lengths[i] = decode_string(text, end, decoded, false).length;
    }
    return lengths[0] == lengths[1] && memcmp(texts[0].data(), texts[1].data(), lengths[0]) == 0;
}

}  // namespace csj
