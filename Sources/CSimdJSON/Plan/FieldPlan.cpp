#include "FieldPlan.hpp"

#include <map>
#include <memory>

/// The tree while paths are still being added, with children in sorted maps.
struct csj_plan::Draft {
    struct Branch {
        std::map<std::string, std::unique_ptr<Branch>> keys;
        /// An index and the key with the same digits are one branch: a JSON Pointer does not say which of the two it means.
        std::map<uint32_t, Branch *> elements;
        std::vector<csj::Capture> captures;
    };

    Branch root;
    std::vector<std::vector<uint32_t>> fields;
    uint32_t provisional_slots = 0;
    std::vector<uint32_t> final_slots;

    void number(csj_plan &plan, const Branch &branch) {
        uint32_t id = uint32_t(plan.nodes.size());
        plan.nodes.emplace_back();
        csj::Node node;
        node.id = id;
        node.slots = plan.slot_count;
        node.captures = uint32_t(plan.captures.size());
        for (csj::Capture capture : branch.captures) {
            final_slots[capture.slot] = plan.slot_count;
            capture.slot = plan.slot_count++;
            plan.captures.push_back(capture);
        }
        node.captures_end = uint32_t(plan.captures.size());

        // Depth is that of a configured path, a handful of levels: calling itself is fine here.
        std::map<const Branch *, uint32_t> children;
        for (auto &key : branch.keys) {
            children[key.second.get()] = uint32_t(plan.nodes.size());
            number(plan, *key.second);
        }
        if (!branch.keys.empty()) {
            node.has_keys = true;
            uint32_t size = 4;
            while (size < 2 * branch.keys.size()) { size *= 2; }
            node.table = uint32_t(plan.entries.size());
            node.table_mask = size - 1;
            plan.entries.resize(plan.entries.size() + size);
            for (auto &key : branch.keys) {
                csj::KeyEntry entry;
                entry.hash = csj::hash_key(reinterpret_cast<const uint8_t *>(key.first.data()), key.first.size());
                entry.text = uint32_t(plan.texts.size());
                entry.length = uint32_t(key.first.size());
                entry.node = children[key.second.get()];
                plan.texts += key.first;
                uint32_t at = uint32_t(entry.hash) & node.table_mask;
                while (plan.entries[node.table + at].node != 0) { at = (at + 1) & node.table_mask; }
                plan.entries[node.table + at] = entry;
            }
        }
        node.elements = uint32_t(plan.elements.size());
        for (auto &element : branch.elements) { plan.elements.push_back({element.first, children[element.second]}); }
        node.elements_end = uint32_t(plan.elements.size());
        node.slots_end = plan.slot_count;
        node.nodes_end = uint32_t(plan.nodes.size());
        plan.nodes[id] = node;
    }
};

csj_plan::csj_plan() : draft(new Draft) {}
csj_plan::~csj_plan() { delete draft; }

void csj_plan::seal() {
    if (!draft) { return; }
    draft->final_slots.resize(draft->provisional_slots);
    draft->number(*this, draft->root);
    for (auto &slots : draft->fields) {
        field_starts.push_back(uint32_t(field_slots.size()));
        for (uint32_t slot : slots) { field_slots.push_back(draft->final_slots[slot]); }
    }
    field_starts.push_back(uint32_t(field_slots.size()));
    delete draft;
    draft = nullptr;
}

extern "C" {

csj_plan *csj_plan_create(void) { return new csj_plan; }

void csj_plan_destroy(csj_plan *plan) { delete plan; }

void csj_plan_add_field(csj_plan *plan) { plan->draft->fields.emplace_back(); }

void csj_plan_add_path(csj_plan *plan, const csj_segment *segments, size_t segment_count, int capture, const csj_plan *nested) {
    csj_plan::Draft::Branch *branch = &plan->draft->root;
    for (size_t at = 0; at < segment_count; ++at) {
        const csj_segment &segment = segments[at];
        std::string key = segment.key ? std::string(reinterpret_cast<const char *>(segment.key), segment.key_length)
                                      : std::to_string(segment.index);
        std::unique_ptr<csj_plan::Draft::Branch> &child = branch->keys[key];
        if (!child) { child = std::make_unique<csj_plan::Draft::Branch>(); }
        if (!segment.key) { branch->elements[segment.index] = child.get(); }
        branch = child.get();
    }
    uint32_t slot = plan->draft->provisional_slots++;
    branch->captures.push_back({slot, uint8_t(capture), nested});
    plan->draft->fields.back().push_back(slot);
}

void csj_plan_collect_unknown_keys(csj_plan *plan) { plan->collects_unknown_keys = true; }

void csj_plan_seal(csj_plan *plan) { plan->seal(); }

uint32_t csj_view_field_count(const csj_view *view, uint32_t instance) {
    return uint32_t(view->instances[instance].plan->field_starts.size() - 1);
}

csj_cell csj_view_cell(const csj_view *view, uint32_t instance, uint32_t field) {
    const csj_instance &record = view->instances[instance];
    const csj_plan &plan = *record.plan;
    const csj_cell *cells = view->cells + record.cells;
    for (uint32_t at = plan.field_starts[field], end = plan.field_starts[field + 1]; at < end; ++at) {
        const csj_cell &cell = cells[plan.field_slots[at]];
        if (cell.kind != CSJ_MISSING) { return cell; }
    }
    return csj_cell{};
}

}  // extern "C"
