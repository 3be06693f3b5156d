#include "FieldPlan.hpp"

#include <map>
#include <memory>

/// The tree while paths are still being added, with children in sorted maps.
struct csj_plan::Draft {
    struct Branch {
        std::map<std::string, std::unique_ptr<Branch>> keys;
        /// An index and the key with the same digits are one branch: a JSON Pointer does not say which of the two it means.
        std::map<uint32_t, Branch *> elements;
        /// Every child.
        std::unique_ptr<Branch> each;
        std::vector<csj::Capture> captures;
    };

    Branch root;
    std::vector<std::vector<uint32_t>> fields;
    uint32_t provisional_slots = 0;
    std::vector<uint32_t> final_slots;

    /// Makes the final node of a branch and of all below it. The depth is that of a configured path, a handful of levels: calling itself
    /// is fine here.
    const csj::Node *compile(csj_plan &plan, const Branch &branch) {
        csj::Node &node = plan.nodes.emplace_back();
        node.plan = &plan;
        node.is_root = &branch == &root;
        node.slots = plan.slot_count;
        std::vector<csj::Capture> &captures = plan.captures.emplace_back(branch.captures);
        for (csj::Capture &capture : captures) {
            final_slots[capture.slot] = plan.slot_count;
            capture.slot = plan.slot_count++;
        }
        node.captures = captures.data();
        node.captures_end = captures.data() + captures.size();

        size_t size = 4;
        while (size < 2 * branch.keys.size()) { size *= 2; }
        std::vector<csj::KeyEntry> &table = plan.tables.emplace_back(size, csj::KeyEntry{});
        std::map<const Branch *, const csj::Node *> children;
        for (auto &key : branch.keys) {
            const csj::Node *child = compile(plan, *key.second);
            children[key.second.get()] = child;
            const std::string &text = plan.texts.emplace_back(key.first);
            csj::Key form(reinterpret_cast<const uint8_t *>(text.data()), text.size());
            csj::KeyEntry entry{};
            entry.first = form.first;
            entry.last = form.last;
            entry.length = form.length;
            entry.text = text.data();
            entry.number = node.key_count++;
            entry.node = child;
            bool is_leaf = !child->has_keys() && !child->has_elements() && !child->each && child->captures_end - child->captures == 1 &&
                           child->captures->kind == CSJ_CAPTURE_VALUE;
            entry.leaf_slot = is_leaf ? child->captures->slot : csj::KeyEntry::no_slot;
            size_t at = size_t(form.hash) & (size - 1);
            while (table[at].node) { at = (at + 1) & (size - 1); }
            table[at] = entry;
        }
        node.table = table.data();
        node.table_mask = uint32_t(size - 1);
        std::vector<csj::ElementEntry> &elements = plan.elements.emplace_back();
        for (auto &element : branch.elements) { elements.push_back({element.first, children[element.second]}); }
        node.elements = elements.data();
        node.elements_end = elements.data() + elements.size();
        if (branch.each) { node.each = compile(plan, *branch.each); }
        node.slots_end = plan.slot_count;
        return &node;
    }
};

csj_plan::csj_plan() : draft(new Draft) {}
csj_plan::~csj_plan() { delete draft; }

void csj_plan::seal() {
    if (!draft) { return; }
    draft->final_slots.resize(draft->provisional_slots);
    draft->compile(*this, draft->root);
    for (auto &slots : draft->fields) {
        field_starts.push_back(uint32_t(field_slots.size()));
        for (uint32_t slot : slots) { field_slots.push_back(draft->final_slots[slot]); }
        direct_slots.push_back(slots.size() == 1 ? field_slots.back() : CSJ_SEVERAL_SLOTS);
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
        if (segment.is_each) {
            if (!branch->each) { branch->each = std::make_unique<csj_plan::Draft::Branch>(); }
            branch = branch->each.get();
            continue;
        }
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

csj_cell csj_view_first_cell(const csj_view *view, uint32_t instance, uint32_t field) {
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
