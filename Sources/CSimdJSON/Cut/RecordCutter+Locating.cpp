#include "../Scan/Strings.hpp"
#include "RecordCutter.hpp"

namespace csj {

/// Up to the list, or to the end of the chunk. Wherever the document leaves the grammar, it is left to the reader.
void RecordCutter::locate() {
    static const uint8_t mark[] = {0xEF, 0xBB, 0xBF};
    while (at < end && state < State::first_element) {
        switch (state) {
            case State::mark: {
                const uint64_t place = offset();
                if (place == sizeof mark || (place == 0 && *at != mark[0])) {
                    state = State::value;
                } else if (*at == mark[place]) {
                    ++at;
                } else {
                    give_up();
                }
                break;
            }
            case State::value:
                if (skip_space()) { read_value(); }
                break;
            case State::before_key:
                if (!skip_space()) { break; }
                if (*at != '"') { return give_up(); }
                ++at;
                key_start = envelope.size() + size_t(at - pending);
                state = State::in_key;
                break;
            case State::in_key:
                if (skip_string()) { end_key(); }
                break;
            case State::before_colon:
                if (!skip_space()) { break; }
                if (*at != ':') { return give_up(); }
                ++at;
                level += is_key_wanted;
                state = is_key_wanted ? State::value : State::other_value;
                break;
            case State::other_value:
                if (skip_space()) { read_other_value(); }
                break;
            case State::in_other_container:
                if (skip_container()) { state = State::after_other; }
                break;
            case State::in_other_string:
                if (skip_string()) { state = State::after_other; }
                break;
            case State::in_other_word:
                if (skip_word()) { state = State::after_other; }
                break;
            case State::after_other:
                if (!skip_space()) { break; }
                // At the end of the object, too: the key is not there, and it does not count in another object of the same key.
                if (*at != ',') { return give_up(); }
                ++at;
                state = State::before_key;
                break;
            default: return;
        }
    }
}

void RecordCutter::read_value() {
    const bool is_list_here = level == path.size();
    if (*at != (is_list_here ? '[' : '{')) { return give_up(); }
    ++at;
    if (!is_list_here) {
        state = State::before_key;
        return;
    }
    copy();
    list_start = offset();
    state = State::first_element;
}

void RecordCutter::read_other_value() {
    switch (*at) {
        case '{': case '[': state = State::in_other_container; break;
        case '"':
            ++at;
            state = State::in_other_string;
            break;
        default: state = State::in_other_word; break;
    }
}

void RecordCutter::end_key() {
    copy();
    const uint8_t *key = envelope.data() + key_start;
    size_t length = envelope.size() - key_start - 1;
    // What the reader refuses or repairs may be another key afterwards.
    if (!csj_is_utf8(key, length)) { return give_up(); }
    state = State::before_colon;
    if (!memchr(key, '\\', length)) {
        is_key_wanted = is_wanted(key, length);
        return;
    }
    Stack<uint8_t> text;
    uint8_t *target = text.extend(length);
    const Decoded decoded = decode_string(key, key + length, target, false);
    if (decoded.malformed) { return give_up(); }
    is_key_wanted = is_wanted(target, decoded.length);
}

bool RecordCutter::is_wanted(const uint8_t *key, size_t length) const {
    const std::string &wanted = path[level];
    return wanted.size() == length && memcmp(wanted.data(), key, length) == 0;
}

void RecordCutter::copy() {
    const size_t length = size_t(at - pending);
    if (length) { memcpy(envelope.extend(length), pending, length); }
    pending = at;
}

}  // namespace csj
