#ifndef CSJ_FIELD_PLAN_HPP
#define CSJ_FIELD_PLAN_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "CSimdJSON.h"
#include "KeyHash.hpp"

namespace csj {

/// One place where a value is wanted.
struct Capture {
    uint32_t slot;
    uint8_t kind;
    const csj_plan *nested;
};

/// A node of the tree which all paths of a plan make together; the root stands for the record itself.
/// Nodes and slots are numbered in depth-first order, so that everything below a node is one range.
struct Node {
    uint32_t captures = 0, captures_end = 0;
    /// The table of children by key: a power of two of entries, none if the node has no such children.
    uint32_t table = 0, table_mask = 0;
    bool has_keys = false;
    /// Children by array index.
    uint32_t elements = 0, elements_end = 0;
    uint32_t id = 0, nodes_end = 0;
    uint32_t slots = 0, slots_end = 0;
};

struct KeyEntry {
    uint64_t hash = 0;
    uint32_t text = 0, length = 0;
    /// 0: no entry here; the root is nobody's child.
    uint32_t node = 0;
};

struct ElementEntry {
    uint32_t index;
    uint32_t node;
};

}  // namespace csj

struct csj_plan {
    std::vector<csj::Node> nodes;
    std::vector<csj::Capture> captures;
    std::vector<csj::KeyEntry> entries;
    std::vector<csj::ElementEntry> elements;
    std::string texts;
    /// The slots of field f: `field_slots[field_starts[f] ..< field_starts[f + 1]]`.
    std::vector<uint32_t> field_starts;
    std::vector<uint32_t> field_slots;
    uint32_t slot_count = 0;
    bool collects_unknown_keys = false;

    const csj::Node *child(const csj::Node &node, uint64_t hash, const uint8_t *key, size_t length) const {
        uint32_t at = uint32_t(hash) & node.table_mask;
        for (;;) {
            const csj::KeyEntry &entry = entries[node.table + at];
            if (entry.node == 0) { return nullptr; }
            if (entry.hash == hash && entry.length == length && memcmp(texts.data() + entry.text, key, length) == 0) {
                return &nodes[entry.node];
            }
            at = (at + 1) & node.table_mask;
        }
    }

    const csj::Node *element(const csj::Node &node, uint64_t index) const {
        for (uint32_t at = node.elements; at < node.elements_end; ++at) {
            if (elements[at].index == index) { return &nodes[elements[at].node]; }
        }
        return nullptr;
    }

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
