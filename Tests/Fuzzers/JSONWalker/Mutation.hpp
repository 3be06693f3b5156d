#ifndef CSJ_FUZZ_MUTATION_HPP
#define CSJ_FUZZ_MUTATION_HPP

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "Setting.hpp"

namespace fuzz {

// MARK: Making documents

/// A key or value as it stands in a document that is more or less JSON.
struct Span {
    size_t start, end;
    /// The bracket around it, or 0.
    char inside;
    bool is_key;
};

inline std::vector<Span> spans(const std::string &text) {
    std::vector<Span> all;
    std::vector<size_t> open;
    for (size_t at = header_length; at < text.size();) {
        const size_t start = at++;
        const char inside = open.empty() ? 0 : text[all[open.back()].start];
        switch (text[start]) {
            case ' ': case '\t': case '\n': case '\r': case ',': case ':': continue;
            case '}': case ']':
                if (open.empty()) { continue; }
                all[open.back()].end = at;
                open.pop_back();
                continue;
            case '{': case '[':
                open.push_back(all.size());
                all.push_back({start, text.size(), inside, false});
                continue;
            case '"':
                while (at < text.size() && text[at] != '"') { at += text[at] == '\\' ? 2 : 1; }
                at = std::min(at + 1, text.size());
                break;
            default:
                while (at < text.size() && !strchr(" \t\r\n,:[]{}\"", text[at])) { ++at; }
        }
        all.push_back({start, at, inside, inside == '{' && at < text.size() && text[at] == ':'});
    }
    return all;
}

const char *const some_keys[] = {"data", "next", "links", "cursor", "meta", "total", "info", "all", "id", "name", "tags", "raw", "kids", "n", "m",
                                 "a", "b", "c", "", "\xC3\xA9\\\"", "\\u00E9\\u0022", "i\\u0064", "a key of more than sixteen bytes", "0", "1",
                                 "k9", "k63", "k64", "k69", "x", "y", "\\ud800", "\\udfff", "\\u0000"};
const char *const some_values[] = {"null", "true", "false", "0", "-0", "7", "-1.5e3", "1e23", "9007199254740993.0", "1e400", "-1e400", "1e-400",
                                   "5e-324", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "0.1",
                                   "2.2250738585072011e-308", "0e999", "\"\"", "\"text\"", "\"\\n\\\\\\\"\"", "\"\\u0000\"", "\"\\ud83d\\ude00\"",
                                   "\"\\ude00\\ud83d\"", "\"\xE2\x82\xAC\"", "{}", "[]", "[[]]", "{\"id\":1}", "[{\"id\":1},2]", "{\"n\":{\"id\":2}}",
                                   "\"a string, that is: [longer] than {a} window of 40 bytes\"", "[1,\"b\",{\"c\":null}]"};

inline std::string some_number(unsigned (*random)(unsigned)) {
    auto digits = [&](unsigned most) {
        std::string all(1, char('1' + random(9)));
        for (unsigned left = random(most); left > 0; --left) { all += char('0' + random(10)); }
        return all;
    };
    std::string number = (random(2) ? "-" : "") + digits(22);
    if (random(2)) { number += "." + digits(20); }
    if (random(2)) { number += (random(2) ? "e-" : "E") + digits(random(8) ? 2 : 3); }
    return number;
}

/// One change after which a JSON document is still one.
inline void change(std::string &text, unsigned (*random)(unsigned)) {
    const std::vector<Span> all = spans(text);
    const Span span = all.empty() ? Span{text.size(), text.size(), 0, false} : all[random(unsigned(all.size()))];
    const std::string here = text.substr(span.start, span.end - span.start);
    const std::string key = std::string("\"") + some_keys[random(unsigned(std::size(some_keys)))] + "\"";
    std::string value = some_values[random(unsigned(std::size(some_values)))];
    if (!all.empty() && random(3) == 0) {
        const Span &other = all[random(unsigned(all.size()))];
        if (!other.is_key) { value = text.substr(other.start, other.end - other.start); }
    }
    if (random(4) == 0) { value = some_number(random); }
    std::string change = here;
    switch (random(8)) {
        case 0: text[random(header_length)] = char('0' + random(24)); return;
        case 1: change = (random(2) ? " " : "\n") + here; break;
        case 2: change = here + std::string(random(70), ' '); break;
        case 3:
            if (!span.is_key) { change = random(2) ? "[" + here + "]" : "{" + key + ":" + here + "}"; }
            break;
        case 4: case 5:
            if (span.is_key) { change = key + ":" + value + "," + here; }
            if (span.inside == '[') { change = value + "," + here; }
            break;
        default: change = span.is_key ? key : value;
    }
    text.replace(span.start, span.end - span.start, change);
}

/// A mark too many, too few or in place of another one, where there are marks: what separates and encloses is then not quite right.
inline void damage(std::string &text, unsigned (*random)(unsigned)) {
    static const std::string marks = "[]{},:\"\\ ";
    std::vector<size_t> places;
    for (size_t at = text.find_first_of(marks, header_length); at != std::string::npos; at = text.find_first_of(marks, at + 1)) {
        places.push_back(at);
    }
    if (places.empty()) { return; }
    const size_t place = places[random(unsigned(places.size()))];
    const char mark = marks[random(unsigned(marks.size()))];
    switch (random(4)) {
        case 0: text.erase(place, 1); break;
        case 1: text[place] = mark; break;
        case 2: text.insert(place, 1, text[place]); break;
        default: text.insert(place + random(2), 1, mark);
    }
}

}  // namespace fuzz

#endif
