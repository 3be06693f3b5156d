#ifndef CSJ_FIELD_PLAN_HPP
#define CSJ_FIELD_PLAN_HPP

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "CSimdJSON.h"
#include "Key.hpp"

namespace csj {

/// One place where a value is wanted.
struct Capture {
    uint32_t slot;
    uint8_t kind;
    const csj_plan *nested;
};

struct KeyEntry;
struct ElementEntry;

/// A node of the tree which all paths of a plan make together; the root stands for the record itself.
/// Slots are numbered in depth-first order, so that those of everything below a node are one range.
struct Node {
    /// Children by key: a table with a power of two of entries.
    const KeyEntry *table = nullptr;
    uint32_t table_mask = 0;
    uint32_t key_count = 0;
    const Capture *captures = nullptr, *captures_end = nullptr;
    /// Children by array index.
    const ElementEntry *elements = nullptr, *elements_end = nullptr;
    /// What every child is, whatever its key or index; only in a locator, where a node has no other children then.
    const Node *each = nullptr;
    const csj_plan *plan = nullptr;
    uint32_t slots = 0, slots_end = 0;
    bool is_root = false;

    bool has_keys() const { return key_count != 0; }
    bool has_elements() const { return elements != elements_end; }
    bool has_captures() const { return captures != captures_end; }
    inline const KeyEntry *child(const Key &key) const;
    inline const Node *element(uint64_t index) const;
};

struct KeyEntry {
    uint64_t first, last;
    uint32_t length;
    /// The number of the key among those of its node.
    uint32_t number;
    const Node *node;
    /// If all that is wanted of the value is one `.value` capture: its slot.
    uint32_t leaf_slot;
    const char *text;

    static constexpr uint32_t no_slot = UINT32_MAX;
};

struct ElementEntry {
    uint32_t index;
    const Node *node;
};

inline const KeyEntry *Node::child(const Key &key) const {
    for (uint32_t at = uint32_t(key.hash) & table_mask;; at = (at + 1) & table_mask) {
        const KeyEntry &entry = table[at];
        if (entry.first == key.first && entry.last == key.last && entry.length == key.length && entry.node &&
            (key.length <= Key::short_length || memcmp(entry.text, key.text, key.length) == 0)) {
            return &entry;
        }
        if (!entry.node) { return nullptr; }
    }
}

inline const Node *Node::element(uint64_t index) const {
    for (const ElementEntry *entry = elements; entry < elements_end; ++entry) {
        if (entry->index == index) { return entry->node; }
    }
    return nullptr;
}

}  // namespace csj

struct csj_plan {
    /// In deques: their elements stay where they are.
    std::deque<csj::Node> nodes;
    std::deque<std::vector<csj::KeyEntry>> tables;
    std::deque<std::vector<csj::Capture>> captures;
    std::deque<std::vector<csj::ElementEntry>> elements;
    std::deque<std::string> texts;
    /// The slots of field f: `field_slots[field_starts[f] ..< field_starts[f + 1]]`.
    std::vector<uint32_t> field_starts;
    std::vector<uint32_t> field_slots;
    /// For a field of one path its slot, for another one CSJ_SEVERAL_SLOTS.
    std::vector<uint32_t> direct_slots;
    uint32_t slot_count = 0;
    bool collects_unknown_keys = false;

    const csj::Node *root() const { return &nodes.front(); }

    // Only used until the plan is sealed.
    struct Draft;
    Draft *draft;

    csj_plan();
    ~csj_plan();
    csj_plan(const csj_plan &) = delete;
    csj_plan &operator=(const csj_plan &) = delete;
    void seal();
};

#endif
