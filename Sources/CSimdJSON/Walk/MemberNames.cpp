#include "MemberNames.hpp"

#include <cstring>

namespace csj {

void MemberNames::trim() {
    levels.clear();
    depth = 0;
    moved.trim();
}

void MemberNames::open() {
    if (depth == levels.size()) { levels.emplace_back(); }
    Names &names = levels[depth++];
    make_empty(names.entries, smallest);
    names.count = 0;
}

bool MemberNames::add(uint64_t hash, uint32_t offset, const uint8_t *body, KeyLog &keys) {
    Names &names = levels[depth - 1];
    if (2 * (names.count + 1) > names.entries.size()) { grow(names); }
    const size_t mask = names.entries.size() - 1;
    for (size_t at = size_t(hash) & mask;; at = (at + 1) & mask) {
        Entry &entry = names.entries[at];
        if (entry.offset == KeyLog::none) {
            entry = {hash, offset};
            ++names.count;
            return false;
        }
        if (entry.hash == hash && keys.same(body, entry.offset, offset)) { return true; }
    }
}

void MemberNames::make_empty(Stack<Entry> &entries, size_t size) {
    entries.clear();
    memset(static_cast<void *>(entries.extend(size)), 0xFF, size * sizeof(Entry));
}

/// A free place for a name that is not there.
MemberNames::Entry &MemberNames::place(Stack<Entry> &entries, uint64_t hash) {
    const size_t mask = entries.size() - 1;
    size_t at = size_t(hash) & mask;
    while (entries[at].offset != KeyLog::none) { at = (at + 1) & mask; }
    return entries[at];
}

void MemberNames::grow(Names &names) {
    const size_t size = names.entries.size();
    moved.clear();
    memcpy(static_cast<void *>(moved.extend(size)), names.entries.data(), size * sizeof(Entry));
    make_empty(names.entries, 2 * size);
    for (size_t at = 0; at < size; ++at) {
        if (moved[at].offset != KeyLog::none) { place(names.entries, moved[at].hash) = moved[at]; }
    }
}

}  // namespace csj
