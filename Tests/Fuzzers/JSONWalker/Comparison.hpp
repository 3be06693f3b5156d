#ifndef CSJ_FUZZ_COMPARISON_HPP
#define CSJ_FUZZ_COMPARISON_HPP

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "Expectation.hpp"

namespace fuzz {

// MARK: Reading everything that is handed out

/// Writes down all that a view holds, so that the sanitizers see each byte of it and two walks can be compared.
class Dump {
  public:
    std::string text;

    Dump(const csj_view *view, const Plan &plan) : view(view) {
        instance(0, plan);
        cell(view->member, nullptr);
    }

  private:
    const csj_view *view;

    template <typename Number>
    void number(Number value) { text.append(reinterpret_cast<const char *>(&value), sizeof value); }

    void bytes(const uint8_t *from, size_t length) {
        number(length);
        if (length) { text.append(reinterpret_cast<const char *>(from), length); }
    }

    void body(uint64_t offset, uint64_t length) {
        if (offset + length > view->body_length) { differs("a value at %zu reaches beyond the document", size_t(offset)); }
        bytes(view->body + offset, length);
    }

    void cell(const csj_cell &cell, const Plan *nested) {
        number(cell.kind);
        if (cell.kind == CSJ_MISSING) { return; }
        if (cell.length == 0) { differs("a cell of kind %d at %u has no text", cell.kind, cell.offset); }
        number(cell.offset);
        body(cell.offset, cell.length);
        switch (cell.kind) {
            case CSJ_STRING:
                number(cell.flags);
                if (cell.flags & CSJ_IN_SCRATCH) {
                    bytes(view->scratch + cell.payload, cell.count);
                } else {
                    body(cell.payload, cell.count);
                }
                break;
            case CSJ_RECORD: instance(uint32_t(cell.payload), *nested); break;
            case CSJ_ARRAY: items(uint32_t(cell.payload), cell.count, nested); break;
            case CSJ_INT64: case CSJ_DOUBLE: number(cell.payload); break;
            default: break;
        }
    }

    void items(uint32_t first, uint32_t count, const Plan *nested) {
        number(count);
        uint32_t left = count;
        for (uint32_t at = first; at != CSJ_NO_ITEM; at = view->next_item[at]) {
            if (left-- == 0) { differs("a list of %u items goes on", count); }
            cell(view->items[at], nested);
        }
        if (left) { differs("a list of %u items ends %u early", count, left); }
    }

    void instance(uint32_t at, const Plan &plan) {
        if (at >= view->instance_count) { differs("instance %u of %u", at, view->instance_count); }
        const csj_instance &instance = view->instances[at];
        if (instance.plan != plan.compiled || csj_view_field_count(view, at) != plan.fields.size()) { differs("instance %u: another plan", at); }
        number(instance.offset);
        body(instance.offset, instance.length);
        for (uint32_t field = 0; field < plan.fields.size(); ++field) { cell(csj_view_cell(view, at, field), plan.fields[field].nested); }
        items(instance.first_unknown, instance.unknown_count, nullptr);
    }
};

// MARK: Comparing with the DOM

class Comparison {
  public:
    Comparison(const csj_view *view, const Tree &tree, bool is_envelope)
        : view(view), tree(tree), is_envelope(is_envelope) {}

    void instance(uint32_t at, const Plan &plan, uint32_t index) const {
        const csj_instance &instance = view->instances[at];
        const Value &value = tree.values[index];
        // The envelope stands for the whole document, and says nothing of its place.
        if (!(is_envelope && at == 0) && (instance.offset != value.offset || instance.length != value.length)) {
            differs("the instance at %u+%u should be at %u+%u", instance.offset, instance.length, value.offset, value.length);
        }
        for (uint32_t number = 0; number < plan.fields.size(); ++number) {
            const Field &field = plan.fields[number];
            uint32_t there = none;
            for (size_t path = 0; there == none && path < field.paths.size(); ++path) { there = tree.resolve(index, field.paths[path]); }
            const csj_cell cell = csj_view_cell(view, at, number);
            if (there == none) {
                if (cell.kind != CSJ_MISSING) { differs("field %u of the value at %u should be missing", number, value.offset); }
            } else {
                compare(cell, field, there);
            }
        }
        unknown_keys(instance, plan, index);
    }

    /// The name of a record; `index`: the member whose name it is, or `none`.
    void name(const csj_cell &cell, uint32_t index) const {
        if (index == none) {
            if (cell.kind != CSJ_MISSING) { differs("a record has the name at %u, and should have none", cell.offset); }
            return;
        }
        const Value &member = tree.values[index];
        if (cell.kind != CSJ_STRING || cell.offset != member.key_offset || cell.length != member.key_length) {
            differs("the name of a record is at %u+%u, expected at %u+%u", cell.offset, cell.length, member.key_offset, member.key_length);
        }
        compare_text(cell, member.key);
    }

  private:
    const csj_view *view;
    const Tree &tree;
    const bool is_envelope;

    void compare(const csj_cell &cell, const Field &field, uint32_t index) const {
        const Value &value = tree.values[index];
        if (cell.offset != value.offset || cell.length != value.length) {
            differs("a cell of kind %d is at %u+%u, its value at %u+%u", cell.kind, cell.offset, cell.length, value.offset, value.length);
        }
        if (field.capture == CSJ_CAPTURE_RAW) {
            expect(cell, CSJ_RAW, value);
        } else if (!value.is_container()) {
            compare_scalar(cell, index);
        } else if (field.capture == CSJ_CAPTURE_VALUE) {
            expect(cell, CSJ_RAW, value);
        } else if (value.is_object()) {
            expect(cell, CSJ_RECORD, value);
            instance(uint32_t(cell.payload), *field.nested, index);
        } else {
            expect(cell, CSJ_ARRAY, value);
            uint32_t at = uint32_t(cell.payload);
            for (uint32_t child : tree.children(index)) {
                if (at == CSJ_NO_ITEM) { differs("the array at %u has more than %u items", value.offset, cell.count); }
                // An item is read as the field would be, but an array in the array as its text.
                compare(view->items[at], tree.values[child].is_array() ? Field{} : field, child);
                at = view->next_item[at];
            }
            if (at != CSJ_NO_ITEM) { differs("the array at %u has fewer than %u items", value.offset, cell.count); }
        }
    }

    void expect(const csj_cell &cell, int kind, const Value &value) const {
        if (cell.kind != kind) { differs("the value at %u has kind %d, expected %d", value.offset, cell.kind, kind); }
    }

    void compare_scalar(const csj_cell &cell, uint32_t index) const {
        const Value &value = tree.values[index];
        switch (value.dom.type()) {
            case element_type::NULL_VALUE: return expect(cell, CSJ_NULL, value);
            case element_type::BOOL: return expect(cell, value.dom.get_bool().value_unsafe() ? CSJ_TRUE : CSJ_FALSE, value);
            case element_type::STRING:
                expect(cell, CSJ_STRING, value);
                return compare_text(cell, value.dom.get_string().value_unsafe());
            default: break;
        }
        const NumberToken number = tree.token(value);
        expect(cell, number.kind, value);
        if (cell.kind != CSJ_BIG_NUMBER && cell.payload != number.bits) {
            differs("the number at %u has bits %016llx, expected %016llx", value.offset, (unsigned long long)cell.payload,
                    (unsigned long long)number.bits);
        }
        if (!number.is_beyond_dom) { compare_number(cell, number, value); }
    }

    void compare_number(const csj_cell &cell, const NumberToken &number, const Value &value) const {
        uint64_t bits = 0;
        bool agrees = true;
        if (value.dom.is_int64()) {
            bits = uint64_t(value.dom.get_int64().value_unsafe());
            // No int64 is a negative zero: the walker makes a double of `-0`, the DOM 0.
            agrees = cell.kind == CSJ_INT64 ? bits == cell.payload : cell.kind == CSJ_DOUBLE && bits == 0 && number.is_integer;
        } else if (value.dom.is_uint64()) {
            // Beyond int64: the walker hands out the digits.
            const std::string digits(tree.original.substr(value.offset, value.length));
            bits = value.dom.get_uint64().value_unsafe();
            agrees = cell.kind == CSJ_BIG_NUMBER && strtoull(digits.c_str(), nullptr, 10) == bits;
        } else {
            const double dom = value.dom.get_double().value_unsafe();
            memcpy(&bits, &dom, sizeof dom);
            // So small that its double is zero, although the number is not: the walker hands out the digits.
            agrees = cell.kind == CSJ_DOUBLE ? bits == cell.payload : cell.kind == CSJ_BIG_NUMBER && dom == 0;
        }
        if (!agrees) { differs("the DOM says %016llx of the number at %u, a cell of kind %d", (unsigned long long)bits, value.offset, cell.kind); }
    }

    void compare_text(const csj_cell &cell, std::string_view dom) const {
        const std::string wanted = tree.decoded(dom);
        const uint8_t *text = cell.count == 0 ? nullptr : (cell.flags & CSJ_IN_SCRATCH ? view->scratch : view->body) + cell.payload;
        if (cell.count != wanted.size() || (text && memcmp(text, wanted.data(), wanted.size()) != 0)) {
            differs("the string at %u is not the DOM's", cell.offset);
        }
    }

    void unknown_keys(const csj_instance &instance, const Plan &plan, uint32_t index) const {
        uint32_t at = instance.first_unknown;
        if (plan.collects_unknown_keys && tree.values[index].is_object()) {
            for (uint32_t child : tree.children(index)) {
                const Value &member = tree.values[child];
                if (plan.first_keys.count(member.key)) { continue; }
                if (at == CSJ_NO_ITEM) { differs("the unknown key at %u is not listed", member.key_offset); }
                const csj_cell &cell = view->items[at];
                if (cell.offset != member.key_offset || cell.length != member.key_length || cell.kind != CSJ_STRING) {
                    differs("the key at %u is listed where the one at %u should be", cell.offset, member.key_offset);
                }
                compare_text(cell, member.key);
                at = view->next_item[at];
            }
        }
        if (at != CSJ_NO_ITEM) { differs("the key at %u is listed as unknown", view->items[at].offset); }
    }
};

}  // namespace fuzz

#endif
