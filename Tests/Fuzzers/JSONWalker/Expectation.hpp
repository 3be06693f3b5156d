#ifndef CSJ_FUZZ_EXPECTATION_HPP
#define CSJ_FUZZ_EXPECTATION_HPP

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "Tree.hpp"

namespace fuzz {

// MARK: What must come of a document

/// The records and whatever else the walk as a whole has to say, going by the DOM.
struct Expectation {
    std::vector<uint32_t> records;
    /// The members whose names the records have, or `none`; only where the path of the records has a wildcard.
    std::vector<uint32_t> names;
    int found = CSJ_FOUND_NOTHING;
    size_t found_offset = 0;
    bool lacks = false;
    size_t lack_offset = 0;
    uint32_t depth = 0;
    /// Limits that are exceeded outside of the records, or by what the envelope asks for.
    uint32_t outside = 0;
    bool is_ambiguous = false;
    std::vector<bool> is_in_record;

    explicit Expectation(const Tree &tree) : is_in_record(tree.values.size()) {
        const Setting &setting = tree.setting;
        const int duplicates = setting.request.duplicate_keys;
        if (setting.locator && duplicates != CSJ_DUPLICATES_FIRST) { is_ambiguous |= repeats(tree, 0, begin(*setting.locator)); }
        if (setting.locator) {
            // If the list stands there twice, the walk ends at the second one: what has been handed out is of the first.
            const bool takes_first = is_ambiguous || duplicates == CSJ_DUPLICATES_FIRST;
            const Path &path = setting.locator->fields[0].paths[0];
            if (path.has_wildcard()) {
                collect(tree, 0, path, 0, takes_first, {});
            } else {
                locate(tree, tree.resolve(0, path, takes_first));
            }
        } else {
            records = {0};
        }
        for (uint32_t record : records) {
            std::fill(is_in_record.begin() + record, is_in_record.begin() + tree.values[record].end, true);
        }
        const std::set<uint32_t> roots(records.begin(), records.end());
        for (uint32_t at = 0; at < tree.values.size(); ++at) {
            const Value &value = tree.values[at];
            depth = std::max(depth, value.depth + (value.is_container() ? 1 : 0));
            if (!is_in_record[at]) { outside |= value.problems; }
            // The key of a record stands before it.
            if (!is_in_record[at] || roots.count(at)) { outside |= value.key_problems; }
        }
        if (setting.envelope) { add_asked(tree, 0, begin(*setting.envelope)); }
        if (setting.envelope && duplicates == CSJ_DUPLICATES_REJECT) { is_ambiguous |= repeats(tree, 0, begin(*setting.envelope)); }
    }

  private:
    /// A path of which the rest, from `at` on, is still to go.
    struct Way {
        const Field *field;
        const Path *path;
        size_t at;
    };

    void locate(const Tree &tree, uint32_t list) {
        if (list == none) { return; }
        const Value &value = tree.values[list];
        found_offset = value.offset;
        if (value.is_array()) {
            found = CSJ_FOUND_ARRAY;
            records = tree.children(list);
        } else if (value.is_object()) {
            found = CSJ_FOUND_OBJECT;
            records = {list};
        } else {
            found = value.dom.is_null() ? CSJ_FOUND_NULL : CSJ_FOUND_SCALAR;
        }
    }

    void find(int what, size_t offset) {
        const bool is_worse = (what == CSJ_FOUND_NULL && found == CSJ_FOUND_ARRAY) || (what == CSJ_FOUND_SCALAR && found != CSJ_FOUND_SCALAR);
        if (found != CSJ_FOUND_NOTHING && !is_worse) { return; }
        found = what;
        found_offset = offset;
    }

    /// What a path with wildcards leads to, from step `at` on. False: to nothing.
    ///
    /// `around` are the children that its wildcards have chosen, from the outermost on.
    bool collect(const Tree &tree, uint32_t index, const Path &path, size_t at, bool takes_first, std::vector<uint32_t> around) {
        const Value &value = tree.values[index];
        if (at == path.segments.size()) {
            const bool is_last = path.segments.back().is_each;
            if (value.is_array()) {
                find(CSJ_FOUND_ARRAY, value.offset);
                for (uint32_t child : tree.children(index)) { add_record(tree, child, around); }
            } else if (value.is_object() || is_last) {
                if (!is_last) { find(CSJ_FOUND_ARRAY, value.offset); }
                add_record(tree, index, around);
            } else {
                find(value.dom.is_null() ? CSJ_FOUND_NULL : CSJ_FOUND_SCALAR, value.offset);
            }
            return true;
        }
        const Segment &segment = path.segments[at];
        if (!segment.is_each) {
            const uint32_t child = tree.resolve(index, Path{segment}, takes_first);
            return child != none && collect(tree, child, path, at + 1, takes_first, around);
        }
        if (!value.is_container()) {
            if (value.dom.is_null()) { find(CSJ_FOUND_NULL, value.offset); }
            return value.dom.is_null();
        }
        find(CSJ_FOUND_ARRAY, value.offset);
        std::set<std::string_view> seen;
        for (uint32_t child : tree.children(index)) {
            if (value.is_object() && !seen.insert(tree.values[child].key).second) { continue; }
            std::vector<uint32_t> inside = around;
            inside.push_back(child);
            if (!collect(tree, child, path, at + 1, takes_first, inside) && !lacks) {
                lacks = true;
                lack_offset = tree.values[child].offset;
            }
        }
        return true;
    }

    void add_record(const Tree &tree, uint32_t record, const std::vector<uint32_t> &around) {
        records.push_back(record);
        const auto named = std::find_if(around.rbegin(), around.rend(), [&](uint32_t child) { return tree.values[child].is_member; });
        names.push_back(named == around.rend() ? none : *named);
    }

    static std::vector<Way> begin(const Plan &plan) {
        std::vector<Way> ways;
        for (const Field &field : plan.fields) {
            for (const Path &path : field.paths) { ways.push_back({&field, &path, 0}); }
        }
        return ways;
    }

    /// What of the ways goes on into a child of a container: the one of that key, or of that place.
    static std::vector<Way> going_on(const std::vector<Way> &ways, const Value &container, const Value &child, int64_t element) {
        std::vector<Way> rest;
        for (const Way &way : ways) {
            if (way.at == way.path->segments.size()) { continue; }
            const Segment &segment = way.path->segments[way.at];
            const bool matches = segment.is_each || (container.is_object() ? segment.key == child.key : segment.index == element);
            if (matches) { rest.push_back({way.field, way.path, way.at + 1}); }
        }
        return rest;
    }

    void add_problems(const Value &value) {
        if (!value.is_container()) { outside |= value.problems & (1u << CSJ_PROBLEM_STRING_LENGTH | 1u << CSJ_PROBLEM_NUMBER_DIGITS); }
    }

    /// The limits that the values at the ends of the ways exceed, wherever they lie.
    void add_asked(const Tree &tree, uint32_t index, std::vector<Way> ways) {
        const Value &value = tree.values[index];
        std::set<const Plan *> plans;
        for (size_t at = 0; at < ways.size(); ++at) {
            const Way way = ways[at];
            if (way.at < way.path->segments.size()) { continue; }
            add_problems(value);
            if (!way.field->nested || !value.is_container() || !plans.insert(way.field->nested).second) { continue; }
            const std::vector<Way> more = begin(*way.field->nested);
            if (value.is_object()) {
                ways.insert(ways.end(), more.begin(), more.end());
            } else {
                for (uint32_t child : tree.children(index)) {
                    add_problems(tree.values[child]);
                    if (tree.values[child].is_object()) { add_asked(tree, child, more); }
                }
            }
        }
        if (!value.is_container()) { return; }
        std::set<std::string_view> seen;
        int64_t element = 0;
        for (uint32_t child : tree.children(index)) {
            const std::vector<Way> rest = going_on(ways, value, tree.values[child], element++);
            const bool is_again = value.is_object() && !seen.insert(tree.values[child].key).second;
            if (rest.empty() || (is_again && tree.setting.request.duplicate_keys == CSJ_DUPLICATES_FIRST)) { continue; }
            add_asked(tree, child, rest);
        }
    }

    /// Whether a key on one of the ways stands twice in its object.
    static bool repeats(const Tree &tree, uint32_t index, std::vector<Way> ways) {
        const Value &value = tree.values[index];
        if (!value.is_container()) { return false; }
        std::set<const Plan *> plans;
        for (size_t at = 0; at < ways.size(); ++at) {
            const Way way = ways[at];
            const Plan *nested = way.at == way.path->segments.size() ? way.field->nested : nullptr;
            if (!nested || !plans.insert(nested).second) { continue; }
            const std::vector<Way> more = begin(*nested);
            if (value.is_object()) {
                ways.insert(ways.end(), more.begin(), more.end());
            } else {
                for (uint32_t child : tree.children(index)) {
                    if (tree.values[child].is_object() && repeats(tree, child, more)) { return true; }
                }
            }
        }
        std::set<std::string_view> seen;
        int64_t element = 0;
        for (uint32_t child : tree.children(index)) {
            const std::vector<Way> rest = going_on(ways, value, tree.values[child], element++);
            if (rest.empty()) { continue; }
            if (value.is_object() && !seen.insert(tree.values[child].key).second) { return true; }
            if (repeats(tree, child, rest)) { return true; }
        }
        return false;
    }
};

}  // namespace fuzz

#endif
