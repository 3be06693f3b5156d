#ifndef CSJ_RECORD_CUTTER_HPP
#define CSJ_RECORD_CUTTER_HPP

#include <string>
#include <vector>

#include "../Plan/Stack.hpp"
#include "CSimdJSON.h"
#include "ContainerEnd.hpp"

namespace csj {

/// See CSJRecordCutter.h.
class RecordCutter {
  public:
    RecordCutter(const csj_cutting &cutting, FindEnd find_end);

    void pass() { state = State::rest; }
    void feed(const uint8_t *bytes, size_t length);
    int next(csj_cut &cut);
    bool finish();
    int status() const;
    int fail(int code, uint64_t offset);

    int failure = CSJ_FAILURE_NONE;
    uint64_t failure_offset = 0;
    Stack<uint8_t> envelope;
    uint64_t list_start = no_list, list_end = no_list;

    static constexpr uint64_t no_list = UINT64_MAX;

  private:
    /// What comes next. In this order: what is before the list, the list, what is after it.
    enum class State : uint8_t {
        mark,
        /// The value to which the first `level` keys of the path lead.
        value,
        before_key,
        in_key,
        before_colon,
        /// A value that the path does not lead to.
        other_value,
        in_other_container,
        in_other_string,
        in_other_word,
        after_other,

        first_element,
        next_element,
        after_element,
        in_container,
        in_string,
        in_word,

        rest,
        failed,
    };

    bool is_in_list() const { return state >= State::first_element && state <= State::in_word; }
    bool is_in_record() const { return state >= State::in_container && state <= State::in_word; }
    uint64_t offset() const { return base + uint64_t(at - begin); }

    // Around the list (RecordCutter+Locating.cpp)
    void locate();
    void read_value();
    void read_other_value();
    /// At the end of a key: goes on with the value, or gives up.
    void end_key();
    bool is_wanted(const uint8_t *key, size_t length) const;
    /// From here on everything is the envelope's, and nothing is cut.
    void give_up() { state = State::rest; }
    /// What has been gone over outside of the list is the envelope's.
    void copy();

    // The list (RecordCutter.cpp)
    bool read_separator();
    bool start_record();
    int hand_out(csj_cut &cut);
    int ask_for_more();

    // Both; false: the chunk is at its end
    bool skip_space();
    bool skip_string();
    bool skip_word();
    bool skip_container();

    const FindEnd find_end;
    const uint64_t max_records;
    /// An index is the key with the same digits; it leads into no array.
    std::vector<std::string> path;

    const uint8_t *begin = nullptr, *at = nullptr, *end = nullptr;
    /// What is still to be copied, of the envelope or of the record, starts here.
    const uint8_t *pending = nullptr;
    /// Where the chunk is in the document.
    uint64_t base = 0;

    State state = State::mark;
    size_t level = 0;
    bool is_key_wanted = false;
    /// In the envelope.
    size_t key_start = 0;
    /// Of the container or string that the chunk ends in; as new where one has ended.
    Nesting nesting;
    uint64_t record_start = 0, record_count = 0;
    /// The start of a record that goes on in the next chunk.
    Stack<uint8_t> gathered;
};

}  // namespace csj

#endif
