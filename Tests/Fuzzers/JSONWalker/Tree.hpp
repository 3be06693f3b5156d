#ifndef CSJ_FUZZ_TREE_HPP
#define CSJ_FUZZ_TREE_HPP

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "Document.hpp"
#include "Setting.hpp"

namespace fuzz {

using simdjson::dom::element;
using simdjson::dom::element_type;

// MARK: The tree

/// A value of the document: what the DOM says of it, and where it stands, which the DOM does not say.
struct Value {
    element dom;
    /// If it is a member of an object: its key, decoded, and the key's place in the text.
    std::string_view key;
    uint32_t key_offset = 0, key_length = 0;
    uint32_t offset = 0, length = 0;
    /// In the order of the document a value's descendants follow it: this is where they end.
    uint32_t end = 0;
    uint32_t parent = none;
    uint32_t depth = 0;
    bool is_member = false;
    /// Why a record with this in it is refused: a bit for each CSJ_PROBLEM_…; of the value itself, and of its key.
    uint32_t problems = 0, key_problems = 0;

    bool is_object() const { return dom.type() == element_type::OBJECT; }
    bool is_array() const { return dom.type() == element_type::ARRAY; }
    bool is_container() const { return is_object() || is_array(); }
};

class Tree {
  public:
    std::vector<Value> values;
    const Setting &setting;
    const Document &document;
    std::string_view original;

    Tree(element root, const Setting &setting, const Document &document, std::string_view original)
        : setting(setting), document(document), original(original), text(document.text) {
        build(root);
        for (Value &value : values) { judge(value); }
    }

    std::vector<uint32_t> children(uint32_t of) const {
        std::vector<uint32_t> all;
        for (uint32_t at = of + 1; at < values[of].end; at = values[at].end) { all.push_back(at); }
        return all;
    }

    /// The value at a path from the value `from` on, or `none`.
    uint32_t resolve(uint32_t from, const Path &path) const {
        return resolve(from, path, setting.request.duplicate_keys == CSJ_DUPLICATES_FIRST);
    }

    uint32_t resolve(uint32_t from, const Path &path, bool takes_first) const {
        for (const Segment &segment : path.segments) {
            const Value &value = values[from];
            if (!value.is_container() || (value.is_array() && segment.index < 0)) { return none; }
            uint32_t match = none;
            int64_t element = 0;
            for (uint32_t at = from + 1; at < value.end; at = values[at].end, ++element) {
                if (value.is_array() ? element != segment.index : values[at].key != segment.key) { continue; }
                match = at;
                if (takes_first) { break; }
            }
            if (match == none) { return none; }
            from = match;
        }
        return from;
    }

    std::string decoded(std::string_view string) const {
        std::string result(string);
        if (setting.request.nul_in_text == CSJ_NUL_STRIP) { result.erase(std::remove(result.begin(), result.end(), '\0'), result.end()); }
        return result;
    }

    /// The problems of a record's name, which counts as one of its texts.
    uint32_t name_problems(uint32_t of) const {
        if (of == none) { return 0; }
        const Value &value = values[of];
        const bool has_nul = setting.request.nul_in_text == CSJ_NUL_REJECT && value.key.find('\0') != std::string_view::npos;
        return (value.key_problems & 1u << CSJ_PROBLEM_LONE_SURROGATE) | (has_nul ? 1u << CSJ_PROBLEM_NUL : 0);
    }

    /// All problems of a value and what is in it.
    uint32_t problems(uint32_t of) const {
        uint32_t all = values[of].problems;
        for (uint32_t at = of + 1; at < values[of].end; ++at) { all |= values[at].problems | values[at].key_problems; }
        return all;
    }

  private:
    const std::string &text;

    struct Level {
        uint32_t value;
        std::vector<std::pair<std::string_view, element>> children;
        size_t next = 0;
    };

    void skip_space(size_t &at) const {
        while (at < text.size() && strchr(" \t\r\n", text[at]) && text[at]) { ++at; }
    }

    void take(size_t &at, char expected) const {
        skip_space(at);
        if (at >= text.size() || text[at] != expected) { differs("the DOM parser accepts, but at %zu there is no %c", at, expected); }
        ++at;
    }

    void take_string(size_t &at) const {
        take(at, '"');
        while (at < text.size() && text[at] != '"') { at += text[at] == '\\' ? 2 : 1; }
        take(at, '"');
    }

    /// With a stack of its own: documents may be as deep as they are long.
    void build(element root) {
        std::vector<Level> levels;
        size_t at = 0;
        std::pair<std::string_view, element> next = {{}, root};
        for (;;) {
            const uint32_t index = uint32_t(values.size());
            Value &value = values.emplace_back();
            value.dom = next.second;
            value.depth = uint32_t(levels.size());
            if (!levels.empty()) {
                value.parent = levels.back().value;
                value.is_member = values[value.parent].is_object();
            }
            if (value.is_member) {
                skip_space(at);
                value.key = next.first;
                value.key_offset = uint32_t(at);
                take_string(at);
                value.key_length = uint32_t(at) - value.key_offset;
                take(at, ':');
            }
            skip_space(at);
            value.offset = uint32_t(at);
            if (value.is_container()) {
                take(at, value.is_object() ? '{' : '[');
                levels.push_back({index, {}});
                auto &children = levels.back().children;
                if (value.is_object()) {
                    const simdjson::dom::object object = value.dom.get_object().value_unsafe();
                    for (auto member : object) { children.push_back({member.key, member.value}); }
                } else {
                    const simdjson::dom::array array = value.dom.get_array().value_unsafe();
                    for (element child : array) { children.push_back({{}, child}); }
                }
            } else {
                if (text[at] == '"') {
                    take_string(at);
                } else {
                    while (at < text.size() && !(strchr(" \t\r\n,]}", text[at]) && text[at])) { ++at; }
                }
                end_value(index, at);
            }
            while (!levels.empty() && levels.back().next == levels.back().children.size()) {
                take(at, values[levels.back().value].is_object() ? '}' : ']');
                end_value(levels.back().value, at);
                levels.pop_back();
            }
            if (levels.empty()) { break; }
            Level &level = levels.back();
            if (level.next > 0) { take(at, ','); }
            next = level.children[level.next++];
        }
        skip_space(at);
        if (at != text.size()) { differs("the DOM parser accepts, but something follows at %zu", at); }
    }

    void end_value(uint32_t index, size_t at) {
        Value &value = values[index];
        value.end = uint32_t(values.size());
        // A number that was put right has become shorter.
        if (!value.is_container() && text[value.offset] != '"') {
            at = value.offset;
            while (at < original.size() && !(strchr(" \t\r\n,]}", original[at]) && original[at])) { ++at; }
        }
        value.length = uint32_t(at) - value.offset;
    }

    void judge(Value &value) const {
        const csj_request &request = setting.request;
        const bool refuses_halves = request.lone_surrogates == CSJ_SURROGATES_REJECT;
        auto problem = [&](bool is_there, int code) { return is_there ? 1u << code : 0; };
        if (value.is_member) {
            // U+0000 in a key is let through: the policy is about text.
            value.key_problems |= problem(value.key.size() > request.max_key, CSJ_PROBLEM_KEY_LENGTH);
            value.key_problems |=
                problem(refuses_halves && document.has_lone_surrogate(value.key_offset, value.key_length), CSJ_PROBLEM_LONE_SURROGATE);
        }
        if (value.dom.is_string()) {
            const std::string_view string = value.dom.get_string().value_unsafe();
            value.problems |= problem(decoded(string).size() > request.max_string, CSJ_PROBLEM_STRING_LENGTH);
            value.problems |= problem(refuses_halves && document.has_lone_surrogate(value.offset, value.length), CSJ_PROBLEM_LONE_SURROGATE);
            value.problems |=
                problem(request.nul_in_text == CSJ_NUL_REJECT && string.find('\0') != std::string_view::npos, CSJ_PROBLEM_NUL);
        } else if (value.is_object() && request.duplicate_keys == CSJ_DUPLICATES_REJECT) {
            std::vector<std::string_view> keys;
            const simdjson::dom::object object = value.dom.get_object().value_unsafe();
            for (auto member : object) { keys.push_back(member.key); }
            std::sort(keys.begin(), keys.end());
            value.problems |= problem(std::adjacent_find(keys.begin(), keys.end()) != keys.end(), CSJ_PROBLEM_DUPLICATE_KEY);
        } else if (value.dom.is_number()) {
            const NumberToken number = token(value);
            if (number.digits > request.max_number_digits) {
                value.problems |= 1u << CSJ_PROBLEM_NUMBER_DIGITS;
                return;
            }
            const bool is_big = number.is_integer && number.kind == CSJ_BIG_NUMBER;
            value.problems |= problem(is_big && request.big_integers == CSJ_NUMBERS_REJECT, CSJ_PROBLEM_BIG_INTEGER);
            value.problems |= problem(number.is_overflow && request.number_overflow == CSJ_NUMBERS_REJECT, CSJ_PROBLEM_NUMBER_OVERFLOW);
        }
    }

  public:
    NumberToken token(const Value &value) const {
        NumberToken number;
        const std::string_view digits = original.substr(value.offset, value.length);
        if (!read_token(digits, number)) { differs("the DOM parser takes %.*s for a number", int(digits.size()), digits.data()); }
        return number;
    }
};

}  // namespace fuzz

#endif
