#include "KeyLog.hpp"

#include <algorithm>
#include <cstring>

#include "../Scan/Strings.hpp"

namespace csj {

void KeyLog::clear() {
    hashes.clear();
    keys.clear();
}

void KeyLog::trim() {
    *this = KeyLog();
}

uint32_t KeyLog::close(const uint8_t *body, size_t start, size_t depth) {
    size_t count = hashes.size() - start;
    uint32_t repeated = none;
    if (count > 1) {
        std::vector<uint64_t> &known = proven[depth % 8];
        if (known.size() != count || memcmp(known.data(), hashes.data() + start, count * sizeof(uint64_t)) != 0) {
            repeated = count <= 16 ? find(body, start) : find_among_many(body, start);
            if (repeated == none && count <= 256) { known.assign(hashes.begin() + std::ptrdiff_t(start), hashes.end()); }
        }
    }
    hashes.resize(start);
    keys.resize(start);
    return repeated;
}

uint32_t KeyLog::find(const uint8_t *body, size_t start) {
    for (size_t later = start + 1; later < hashes.size(); ++later) {
        for (size_t earlier = start; earlier < later; ++earlier) {
            if (hashes[earlier] == hashes[later] && same(body, keys[earlier], keys[later])) { return keys[later].offset - 1; }
        }
    }
    return none;
}

uint32_t KeyLog::find_among_many(const uint8_t *body, size_t start) {
    size_t count = hashes.size() - start;
    size_t size = 64;
    while (size < 2 * count) { size *= 2; }
    table.assign(size, none);
    for (size_t later = start; later < hashes.size(); ++later) {
        size_t at = size_t(hashes[later]) & (size - 1);
        while (table[at] != none) {
            size_t earlier = start + table[at];
            if (hashes[earlier] == hashes[later] && same(body, keys[earlier], keys[later])) { return keys[later].offset - 1; }
            at = (at + 1) & (size - 1);
        }
        table[at] = uint32_t(later - start);
    }
    return none;
}

bool KeyLog::same(const uint8_t *body, const Key &a, const Key &b) {
    if (!a.escaped && !b.escaped) { return a.length == b.length && memcmp(body + a.offset, body + b.offset, a.length) == 0; }
    const Key *both[2] = {&a, &b};
    size_t lengths[2];
    for (int i = 0; i < 2; ++i) {
        const uint8_t *text = body + both[i]->offset;
        texts[i].resize(std::max<size_t>(both[i]->length, 1));
        lengths[i] = decode_string(text, text + both[i]->length, texts[i].data(), false).length;
    }
    return lengths[0] == lengths[1] && memcmp(texts[0].data(), texts[1].data(), lengths[0]) == 0;
}

}  // namespace csj
